import { z } from 'zod'
import { described } from './described.ts'
import { Timestamp } from './time.ts'

/** Counts of one bucket. `prompt_tokens` includes cache reads; `context_window` is the largest seen. */
export const TokenUsage = z
  .object(
    described(
      {
        model: z.string().default(''),
        prompt_tokens: z.int().min(0).default(0),
        completion_tokens: z.int().min(0).default(0),
        cache_read_tokens: z.int().min(0).default(0),
        cache_write_tokens: z.int().min(0).default(0),
        reasoning_tokens: z.int().min(0).default(0),
        context_window: z.int().min(0).default(0),
        per_turn_token: z.int().min(0).default(0),
        response_id: z.string().default(''),
      },
      {
        model: 'The model that was asked first.',
        prompt_tokens: 'Tokens of the prompts, cache reads among them.',
        completion_tokens: 'Tokens of the answers.',
        cache_read_tokens: 'Tokens of prompts that the provider had in its cache.',
        cache_write_tokens: 'Tokens that went into the cache.',
        reasoning_tokens: 'Of the answers: tokens of thinking.',
        context_window: 'Tokens that fit into the model; 0: not known.',
        per_turn_token: 'Tokens of the last call: how full the window is.',
        response_id: 'Of the last call.',
      },
    ),
  )
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
        accumulated_token_usage: 'Tokens so far; null: none were counted.',
      },
    ),
  )
  .meta({ id: 'Metrics' })
export type Metrics = z.infer<typeof Metrics>

/** Metrics of one usage id, as an agent server reports them: with its lists of calls, which may be long. */
export const UsageMetrics = z
  .looseObject(
    described(
      {
        ...Metrics.shape,
        costs: z.array(z.unknown()).optional(),
        response_latencies: z.array(z.unknown()).optional(),
        token_usages: z.array(z.unknown()).optional(),
      },
      {
        costs: 'Of each call, as its server lists them. Not kept.',
        response_latencies: 'Of each call, as its server lists them. Not kept.',
        token_usages: 'Of each call, as its server lists them. Not kept.',
      },
    ),
  )
  .meta({ id: 'UsageMetrics' })
export type UsageMetrics = z.infer<typeof UsageMetrics>

/** Metrics by usage id: `default` for the agent, `condenser`, `title` … */
export const Stats = z
  .object(
    described(
      { usage_to_metrics: z.record(z.string(), UsageMetrics).default({}) },
      { usage_to_metrics: 'By usage id: `default` for the agent, `condenser`, `title` and others.' },
    ),
  )
  .meta({ id: 'Stats' })
export type Stats = z.infer<typeof Stats>

/** A failure that a conversation or a start ended with. */
export const Failure = z
  .object(
    described(
      { code: z.string(), detail: z.string(), at: Timestamp, retryable: z.boolean() },
      {
        code: 'The kind of failure, for programs.',
        detail: 'What happened, in words.',
        retryable: 'Whether the same may work when it is tried again.',
      },
    ),
  )
  .meta({ id: 'Failure' })
export type Failure = z.infer<typeof Failure>
