import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import { tryStore } from './try-store.ts'

/*
 * How often someone may be wrong in a minute, counted for all replicas. A try counts before it is looked at, so that many at
 * once are many, and no longer counts when it was right.
 */

export interface Try {
  /** It was right. */
  right(): Promise<void>
}

/** Names and how often each may be wrong. Throws `quota_exceeded`. */
export type Tries = (allowed: Record<string, number>) => Promise<Try>

export function openTries(database: Database, clock: Clock): Tries {
  const store = tryStore(database, clock)
  return async (allowed) => {
    for (const [who, most] of Object.entries(allowed)) {
      const { count, seconds } = await store.add(who)
      if (count > most)
        throw new Problem('quota_exceeded', 'Too many wrong tries; wait a minute.', { retryAfter: seconds })
    }
    return {
      async right() {
        for (const who of Object.keys(allowed)) await store.remove(who)
      },
    }
  }
}
