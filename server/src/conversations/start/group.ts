import type { GroupingStrategy } from '@parley/contract/settings'
import type { Limits } from '../../limits.ts'
import type { Sandboxes } from '../../sandboxes/service.ts'
import type { ConversationStore } from '../store.ts'

/** What a strategy looks at. */
export interface Candidate {
  id: string
  created_at: string
  last_used_at: string
  conversations: number
}

const newest = (one: Candidate, other: Candidate): number => (one.created_at < other.created_at ? 1 : -1)
const longestUnused = (one: Candidate, other: Candidate): number => (one.last_used_at < other.last_used_at ? -1 : 1)
const fewest = (one: Candidate, other: Candidate): number =>
  one.conversations - other.conversations || newest(one, other)

/** The first by this order is the one to join; null: a new one. */
const strategies: Record<GroupingStrategy, ((one: Candidate, other: Candidate) => number) | null> = {
  NO_GROUPING: null,
  GROUP_BY_NEWEST: newest,
  LEAST_RECENTLY_USED: longestUnused,
  FEWEST_CONVERSATIONS: fewest,
  ADD_TO_ANY: newest,
}

/** The running sandbox with room that the strategy prefers. */
export function choose(strategy: GroupingStrategy, candidates: readonly Candidate[], most: number): string | null {
  const order = strategies[strategy]
  if (order === null) return null
  return candidates.filter((one) => one.conversations < most).sort(order)[0]?.id ?? null
}

interface Parts {
  sandboxes: Sandboxes
  conversations: ConversationStore
  limits: Limits
}

export async function pickSandbox(parts: Parts, owner: string, strategy: GroupingStrategy): Promise<string | null> {
  if (strategy === 'NO_GROUPING') return null
  const [items, counts] = await Promise.all([parts.sandboxes.joinable(owner), parts.conversations.perSandbox(owner)])
  const candidates = items.map((row) => ({ ...row, conversations: counts.get(row.id) ?? 0 }))
  return choose(strategy, candidates, parts.limits.sandboxes.conversations_per_sandbox)
}
