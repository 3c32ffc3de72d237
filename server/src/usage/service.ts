import { Problem } from '@parley/contract/problems'
import type { UsageReport, UsageSum } from '@parley/contract/usage'
import type { Clock } from '@parley/store/clock'
import type { SumRow, UsageStore } from './store.ts'

/** What the models have cost: added up when it is asked for. */

export type Usage = ReturnType<typeof usageService>

interface Parts {
  store: UsageStore
  clock: Clock
  isOwner: (user: string) => Promise<boolean>
}

const dayMs = 86_400_000
const nothing: UsageSum = { calls: 0, cost: 0, prompt_tokens: 0, completion_tokens: 0, cache_read_tokens: 0 }

export function usageService({ store, clock, isOwner }: Parts) {
  return {
    async report(user: string, { days: count, everyone }: { days: number; everyone: boolean }): Promise<UsageReport> {
      if (everyone && !(await isOwner(user)))
        throw new Problem('insufficient_scope', 'Only the owner of the server sees what others have used.')
      const today = Math.floor(clock.millis() / dayMs) * dayMs
      const since = today - (count - 1) * dayMs
      const asked = { owner: everyone ? null : user, since: new Date(since).toISOString() }
      const [used, models, conversations, people] = await Promise.all([
        store.days(asked),
        store.models(asked),
        store.conversations(asked),
        everyone ? store.people(asked) : [],
      ])
      const known = new Map(used.map((one) => [one.day, one]))
      const days = Array.from({ length: count }, (_, index) => {
        const day = new Date(since + index * dayMs).toISOString().slice(0, 10)
        return known.get(day) ?? { day, ...nothing }
      })
      return { total: used.reduce(plus, nothing), days, models, conversations, people }
    },
  }
}

const plus = (one: UsageSum, other: SumRow): UsageSum => ({
  calls: one.calls + other.calls,
  cost: one.cost + other.cost,
  prompt_tokens: one.prompt_tokens + other.prompt_tokens,
  completion_tokens: one.completion_tokens + other.completion_tokens,
  cache_read_tokens: one.cache_read_tokens + other.cache_read_tokens,
})
