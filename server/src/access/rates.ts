import type { Who } from '@parley/contract/endpoint'
import { startConversation, streamStart } from '@parley/contract/start-tasks'
import { startV0Conversation } from '@parley/contract/v0'
import type { Clock } from '@parley/store/clock'
import type { Bucket, Limits as RateLimits, Taken } from '@parley/wire/limits'
import type { Served } from '@parley/wire/serve'
import type { Limits } from '../limits.ts'

/*
 * How often one key may ask, counted in this replica: windows of a fixed length, one for each key and bucket, that begin with
 * the first request in them.
 */

const mostWindows = 100_000

const starts = new Set<unknown>([startConversation, streamStart, startV0Conversation])

/** Starts are counted apart from other writes, since each of them costs a sandbox. */
export const bucketOfStart = ({ endpoint }: Served): Bucket | undefined => (starts.has(endpoint) ? 'start' : undefined)

const seconds = (ms: number): number => Math.max(1, Math.round(ms / 1_000))

export function rateLimits(rates: Limits['rates'], clock: Pick<Clock, 'millis'>): RateLimits {
  const windows = new Map<string, { used: number; until: number }>()
  const policy = (['read', 'write', 'start', 'control'] as const)
    .map((bucket) => `"${bucket}";q=${rates[bucket].requests};w=${seconds(rates[bucket].per)}`)
    .join(', ')

  function makeRoom(now: number): void {
    for (const [key, { until }] of windows) if (until <= now) windows.delete(key)
    // Whoever is left has an open window; the one that was opened first ends first.
    const [oldest] = windows.keys()
    if (windows.size >= mostWindows && oldest !== undefined) windows.delete(oldest)
  }

  return {
    take(who: Who, bucket: Bucket): Taken {
      const now = clock.millis()
      const { requests, per } = rates[bucket]
      const key = `${bucket} ${who.kind} ${who.id}`
      let window = windows.get(key)
      if (window === undefined || window.until <= now) {
        windows.delete(key)
        if (windows.size >= mostWindows) makeRoom(now)
        windows.set(key, (window = { used: 0, until: now + per }))
      }
      const ok = window.used < requests
      if (ok) window.used += 1
      return { policy, ok, remaining: requests - window.used, resetSeconds: (window.until - now) / 1_000 }
    },
  }
}
