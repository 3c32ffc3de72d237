import type { Risk } from '@parley/contract/events'

const rank: Readonly<Record<Risk, number>> = { UNKNOWN: -1, LOW: 0, MEDIUM: 1, HIGH: 2 }

/** The higher one; UNKNOWN is below all. */
export const higher = (a: Risk, b: Risk): Risk => (rank[a] >= rank[b] ? a : b)

/** `by` can only raise what was found. What nobody could judge stays unknown unless it is HIGH: a guess is no judgement. */
export const raised = (found: Risk, by: Risk): Risk =>
  found === 'UNKNOWN' ? (by === 'HIGH' ? 'HIGH' : 'UNKNOWN') : higher(found, by)
