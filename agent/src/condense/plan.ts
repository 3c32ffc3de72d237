import type { LogEvent } from '@parley/contract/events'
import { atomsOf, eventsOf, tokensOf, type Atom } from './atoms.ts'
import type { Past, Reason } from './condenser.ts'

/** What stays at least of the latest steps, and of the user's words, in tokens. */
const tailTokens = 20_000
const saidTokens = 10_000
/** A smaller gain is not worth a new prompt for the provider's cache. */
const leastGain = 0.1

export interface Bounds {
  /** Shown events above which the history is condensed; null: only its tokens count. */
  maxSize: number | null
  /** Leading events that always stay. */
  keepFirst: number
}

/** The events to leave out, or null when that would gain too little. */
export function planOf({ events, view, size }: Past, reason: Reason, bounds: Bounds): LogEvent[] | null {
  const atoms = atomsOf(events, view.forgotten)
  const head = headOf(atoms, bounds.keepFirst - 1)
  const rest = atoms.slice(head)
  const middle = rest.slice(0, tailStart(rest, reason, size.window, bounds))
  const first = atoms.find((atom) => atom.kind === 'user')
  const kept = new Set([first, ...saidKept(middle, bounds)])
  const gone = middle.filter((atom) => !kept.has(atom))
  const part = reason === 'events' ? eventsOf(gone) / size.events : tokensOf(gone) / Math.max(1, tokensOf(atoms))
  if (gone.length === 0 || ((reason === 'events' || reason === 'tokens') && part < leastGain)) return null
  return gone.flatMap((atom) => atom.events)
}

/** Whole atoms for `count` events; the system prompt is the one that is not among them. */
function headOf(atoms: readonly Atom[], count: number): number {
  let events = 0
  let head = 0
  for (; head < atoms.length && events < count; head += 1) events += atoms[head]?.events.length ?? 0
  return head
}

/** Where the part begins that stays as it is: as late as the reason asks for, and where a history may begin. */
function tailStart(rest: readonly Atom[], reason: Reason, window: number | null, bounds: Bounds): number {
  const most = limitsOf(rest, reason, window, bounds)
  let [tokens, events, start] = [0, 0, rest.length]
  for (; start > 0; start -= 1) {
    const atom = rest[start - 1]
    tokens += atom?.tokens ?? 0
    events += atom?.events.length ?? 0
    if (tokens > most.tokens || events > most.events) break
  }
  while (start < rest.length && rest[start]?.mayBegin === false) start += 1
  return start
}

function limitsOf(rest: readonly Atom[], reason: Reason, window: number | null, { maxSize, keepFirst }: Bounds) {
  const half = Math.floor(tokensOf(rest) / 2)
  const usual = Math.min(tailTokens, window === null ? tailTokens : Math.floor(window / 4))
  const events = maxSize === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(maxSize / 2) - keepFirst - 1)
  if (reason === 'events') return { tokens: Number.POSITIVE_INFINITY, events }
  return { tokens: Math.min(half, reason === 'overflow' ? Math.floor(usual / 2) : usual), events }
}

/** What the user said meanwhile stays in the user's words, the newest first, as far as there is room. */
function saidKept(middle: readonly Atom[], { maxSize }: Bounds): Atom[] {
  const kept: Atom[] = []
  let tokens = 0
  const most = maxSize === null ? Number.POSITIVE_INFINITY : Math.floor(maxSize / 4)
  for (const atom of middle.filter(({ kind }) => kind === 'user').toReversed()) {
    tokens += atom.tokens
    if (tokens > saidTokens || kept.length >= most) break
    kept.push(atom)
  }
  return kept
}
