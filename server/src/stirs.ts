import type { Database } from '@parley/store/database'
import type { Wake } from '@parley/store/wake'

/*
 * Readers of everything: they want to know which topics are told here, not one topic by its name. What they hear is a hint
 * that saves them a wait; what there is to do they find in the database, also when they heard nothing.
 */

export interface HeardWake extends Wake {
  /** Calls `fn` with each topic that this process tells. `fn` must not throw. */
  heard(fn: (topic: string) => void): () => void
}

/** What is told within `database.atOnce` is told when that is committed. */
export function heard(wake: Wake, database: Pick<Database, 'afterCommit'>): HeardWake {
  const ears = new Set<(topic: string) => void>()
  return {
    ...wake,
    tell(topic) {
      database.afterCommit(() => {
        wake.tell(topic)
        for (const ear of ears) ear(topic)
      })
    },
    heard(fn) {
      ears.add(fn)
      return () => void ears.delete(fn)
    },
  }
}

/** The name behind `prefix`, as in `events:<conversation>`; undefined for other topics. */
export const named = (topic: string, prefix: string): string | undefined =>
  topic.startsWith(`${prefix}:`) ? topic.slice(prefix.length + 1) : undefined

export interface Rounds {
  /** There may be something to do. */
  poke(): void
  stop(): Promise<void>
}

/** One round at a time: soon after a poke, and every so often without one. A round that fails is followed by the next. */
export function rounds({
  round,
  everyMs,
  gapMs,
  failed,
}: {
  round: () => Promise<void>
  everyMs: number
  gapMs: number
  failed: (error: unknown) => void
}): Rounds {
  let going: Promise<void> | undefined
  let wanted = false
  let stopped = false
  let soon: NodeJS.Timeout | undefined

  const run = () => {
    soon = undefined
    if (stopped) return
    if (going !== undefined) return void (wanted = true)
    wanted = false
    going = round()
      .catch(failed)
      .finally(() => {
        going = undefined
        if (wanted) poke()
      })
  }
  const poke = () => {
    if (!stopped) soon ??= setTimeout(run, gapMs)
  }
  const timer = setInterval(poke, everyMs)
  poke()
  return {
    poke,
    async stop() {
      stopped = true
      clearInterval(timer)
      clearTimeout(soon)
      await going
    },
  }
}
