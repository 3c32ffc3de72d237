import { z } from 'zod'
import { described } from './described.ts'
import { Timestamp } from './time.ts'

/** Counts of one bucket. `prompt_tokens` includes cache reads; `context_window` is the largest seen. */
export const TokenUsage = z
  .object({
    model: z.string().default(''),
    prompt_tokens: z.int().min(0).default(0),
    completion_tokens: z.int().min(0).default(0),
    cache_read_tokens: z.int().min(0).default(0),
    cache_write_tokens: z.int().min(0).default(0),
    reasoning_tokens: z.int().min(0).default(0),
    context_window: z.int().min(0).default(0),
    per_turn_token: z.int().min(0).default(0),
    response_id: z.string().default(''),
  })
  .meta({ id: 'TokenUsage' })
export type TokenUsage = z.infer<typeof TokenUsage>

/** What was used so far, without lists of calls. Costs are in US dollars. */
export const Metrics = z
  .object(
    described(
      {
        model_name: z.string().default('default'),
        accumulated_cost: z.number().min(0).default(0),
        max_budget_per_task: z.number().nullable().default(null),
        accumulated_token_usage: TokenUsage.nullable().default(null),
      },
      {
        model_name: 'The model that was used last.',
        accumulated_cost: 'US dollars.',
        max_budget_per_task: 'What it may cost; null: no limit.',
      },
    ),
  )
  .meta({ id: 'Metrics' })
export type Metrics = z.infer<typeof Metrics>

/** Metrics of one usage id, as an agent server reports them: with its lists of calls, which may be long. */
export const UsageMetrics = z
  .looseObject({
    ...Metrics.shape,
    costs: z.array(z.unknown()).optional(),
    response_latencies: z.array(z.unknown()).optional(),
    token_usages: z.array(z.unknown()).optional(),
  })
  .meta({ id: 'UsageMetrics' })
export type UsageMetrics = z.infer<typeof UsageMetrics>

/** Metrics by usage id: `default` for the agent, `condenser`, `title` … */
export const Stats = z
  .object({ usage_to_metrics: z.record(z.string(), UsageMetrics).default({}) })
  .meta({ id: 'Stats' })
export type Stats = z.infer<typeof Stats>

/** A failure that a conversation or a start ended with. */
export const Failure = z
  .object({ code: z.string(), detail: z.string(), at: Timestamp, retryable: z.boolean() })
  .meta({ id: 'Failure' })
export type Failure = z.infer<typeof Failure>
