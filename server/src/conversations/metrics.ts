import type { LogEvent } from '@parley/contract/events'
import type { Metrics, TokenUsage } from '@parley/contract/metrics'

/** What each kind of work has used so far, by usage id: `default` is the agent itself. */
export type Usages = Record<string, Metrics>

type Call = Extract<LogEvent, { kind: 'LLMCallEvent' }>

/** Counts one call of a model. Calls without a known price count as tokens only. */
export function counted(
  usages: Usages,
  call: Call,
  facts: { contextWindow: number | null; budget: number | null },
): Usages {
  const before = usages[call.usage_id]
  const tokens = before?.accumulated_token_usage ?? null
  const sum = (field: keyof Call['usage']): number => (tokens?.[field] ?? 0) + call.usage[field]
  const usage: TokenUsage = {
    model: tokens?.model || call.model,
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    cache_read_tokens: sum('cache_read_tokens'),
    cache_write_tokens: sum('cache_write_tokens'),
    reasoning_tokens: sum('reasoning_tokens'),
    context_window: Math.max(tokens?.context_window ?? 0, facts.contextWindow ?? 0),
    per_turn_token: call.usage.prompt_tokens + call.usage.completion_tokens,
    response_id: tokens?.response_id || call.response_id,
  }
  return {
    ...usages,
    [call.usage_id]: {
      model_name: before?.model_name ?? call.model,
      accumulated_cost: (before?.accumulated_cost ?? 0) + (call.cost ?? 0),
      max_budget_per_task: facts.budget,
      accumulated_token_usage: usage,
    },
  }
}

/** Everything a conversation has used, in one. */
export function total(usages: Usages): Metrics {
  const all = Object.values(usages)
  const add = (
    field: 'prompt_tokens' | 'completion_tokens' | 'cache_read_tokens' | 'cache_write_tokens' | 'reasoning_tokens',
  ) => all.reduce((sum, one) => sum + (one.accumulated_token_usage?.[field] ?? 0), 0)
  const main = usages['default'] ?? all[0]
  return {
    model_name: main?.model_name ?? 'default',
    accumulated_cost: all.reduce((sum, one) => sum + one.accumulated_cost, 0),
    max_budget_per_task: main?.max_budget_per_task ?? null,
    accumulated_token_usage: main?.accumulated_token_usage
      ? {
          ...main.accumulated_token_usage,
          prompt_tokens: add('prompt_tokens'),
          completion_tokens: add('completion_tokens'),
          cache_read_tokens: add('cache_read_tokens'),
          cache_write_tokens: add('cache_write_tokens'),
          reasoning_tokens: add('reasoning_tokens'),
        }
      : null,
  }
}
