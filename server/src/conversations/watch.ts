import type { Delta } from '@parley/contract/events'
import type { Wake } from '@parley/store/wake'
import type { Live } from './live.ts'
import type { Recent } from './log/recent.ts'
import type { EventRow } from './log/store.ts'
import { eventsTopic } from './topics.ts'

/** One viewer of one conversation. */
export interface Watch {
  /** What has been streamed since the last call. */
  deltas(): Delta[]
  /** Whether there may be events that have not been looked for since the last call. */
  stirred(): boolean
  /** Events after `seq` that this process knows without asking the database; undefined when it has to be asked. */
  recent(seq: number): EventRow[] | undefined
  /** Resolves at the next thing to look at, or after the time. */
  next(ms: number, signal: AbortSignal): Promise<void>
  close(): void
}

export const watcher =
  ({ wake, live, recent }: { wake: Wake; live: Live; recent: Recent }) =>
  (id: string): Watch => {
    let stirred = true
    let woken = Promise.withResolvers<void>()
    const wakeUp = () => woken.resolve()
    const off = wake.on(eventsTopic(id), () => {
      stirred = true
      wakeUp()
    })
    const view = live.view(id, wakeUp)
    const forget = recent.watch(id)
    return {
      deltas: view.take,
      stirred() {
        const was = stirred
        stirred = false
        return was
      },
      recent: (seq) => recent.after(id, seq),
      async next(ms, signal) {
        const timer = setTimeout(() => {
          stirred = true
          wakeUp()
        }, ms)
        signal.addEventListener('abort', wakeUp, { once: true })
        if (!signal.aborted) await woken.promise
        signal.removeEventListener('abort', wakeUp)
        clearTimeout(timer)
        woken = Promise.withResolvers()
      },
      close() {
        view.close()
        forget()
        off()
      },
    }
  }
