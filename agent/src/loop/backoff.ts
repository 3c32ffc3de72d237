import type { ModelError } from '../model/model.ts'
import type { Policy } from './policy.ts'

/** Beyond this a provider's Retry-After is an outage: the run ends in error and a later message tries again. */
const longestAsked = 300_000

const retried: ReadonlySet<ModelError['kind']> = new Set(['rate_limit', 'overloaded', 'transient'])

/**
 * Milliseconds to wait before the next attempt, or null to give up. Decorrelated jitter: between the minimum and
 * `multiplier` times the last wait, never above the maximum; what the provider asks for is honoured.
 * `random` gives 0 to 1.
 */
export function backoff(
  error: ModelError,
  tried: { attempts: number; lastWaitMs: number },
  { attempts, multiplier, minWaitMs, maxWaitMs }: Policy['retries'],
  random: () => number,
): number | null {
  if (!retried.has(error.kind) || tried.attempts >= attempts) return null
  const asked = error.retryAfterMs ?? 0
  if (asked > longestAsked) return null
  const highest = Math.max(minWaitMs, tried.lastWaitMs * multiplier)
  const own = Math.min(maxWaitMs, minWaitMs + random() * (highest - minWaitMs))
  return Math.round(Math.max(asked, own))
}
