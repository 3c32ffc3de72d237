import { ExecutionStatus } from '@parley/contract/execution'
import { Metrics, Stats, type TokenUsage, type UsageMetrics } from '@parley/contract/metrics'
import { Problem } from '@parley/contract/problems'
import type { Trigger } from '@parley/contract/start-request'
import { maxTags } from '@parley/contract/tags'
import type { ReportedEvent } from '@parley/contract/webhooks'

/* What a report changes of what is known already: reports come late, twice and in any order. */

export type Usages = Record<string, Metrics>

const counts = [
  'prompt_tokens',
  'completion_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'context_window',
] as const

/** Totals only grow: a report that was overtaken takes nothing back. */
export function grown(known: Usages, told: Record<string, UsageMetrics | Metrics>): Usages {
  const merged = { ...known }
  for (const [usage, metrics] of Object.entries(told)) merged[usage] = larger(known[usage], Metrics.parse(metrics))
  return merged
}

function larger(known: Metrics | undefined, told: Metrics): Metrics {
  if (known === undefined) return told
  return {
    ...told,
    accumulated_cost: Math.max(known.accumulated_cost, told.accumulated_cost),
    accumulated_token_usage: largerUsage(known.accumulated_token_usage, told.accumulated_token_usage),
  }
}

function largerUsage(known: TokenUsage | null, told: TokenUsage | null): TokenUsage | null {
  if (known === null || told === null) return told ?? known
  const all = counts.map((field) => [field, Math.max(known[field], told[field])] as const)
  return { ...told, ...Object.fromEntries(all) }
}

/** Incoming ones win. */
export function mergedTags(known: Record<string, string>, told: Record<string, string>): Record<string, string> {
  const merged = { ...known, ...told }
  if (Object.keys(merged).length > Math.max(maxTags, Object.keys(known).length))
    throw new Problem('validation_error', `A conversation has at most ${maxTags} tags.`)
  return merged
}

const automation = ['automationtrigger', 'automationid', 'automationrunid']

export const triggerOf = (known: Trigger | null, tags: Record<string, string>): Trigger | null =>
  known ?? (automation.some((name) => name in tags) ? 'automation' : null)

export interface Told {
  status: { value: ExecutionStatus; at: string } | null
  usages: Record<string, UsageMetrics>
}

/** What events say about the conversation as a whole: the newest status by their own times, and the largest totals. */
export function toldBy(events: readonly (ReportedEvent & { at: string })[]): Told {
  const told: Told = { status: null, usages: {} }
  for (const event of events) {
    if (event.kind !== 'ConversationStateUpdateEvent') continue
    const { key, value } = event as { key?: unknown; value?: unknown }
    const whole = key === 'full_state' && typeof value === 'object' && value !== null ? value : {}
    const state: { execution_status?: unknown; stats?: unknown } =
      typeof key === 'string' && key !== 'full_state' ? { [key]: value } : whole
    const status = ExecutionStatus.safeParse(state.execution_status)
    const at = event.at
    if (status.success && status.data !== 'deleting' && at >= (told.status?.at ?? ''))
      told.status = { value: status.data, at }
    const stats = Stats.safeParse(state.stats)
    if (stats.success) told.usages = grown(told.usages as Usages, stats.data.usage_to_metrics)
  }
  return told
}
