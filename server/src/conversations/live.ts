import type { Delta } from '@parley/contract/events'

/*
 * What is on its way to becoming an event: streamed text and the output of a command that still runs. Nothing here is kept;
 * who joins late reads the events. A viewer that does not read loses the oldest, and is told by a gap in `offset`.
 */

const mostWaiting = 256

export type Live = ReturnType<typeof liveHub>

export function liveHub() {
  const viewers = new Map<string, Set<(delta: Delta) => void>>()
  return {
    publish(conversation: string, delta: Delta): void {
      for (const tell of viewers.get(conversation) ?? []) tell(delta)
    },

    /** Whether anybody would see a delta: what nobody watches need not be made. */
    watched: (conversation: string): boolean => viewers.has(conversation),

    /** Deltas from now on. `take` gives what has come since the last call; `woken` runs when there is something. */
    view(conversation: string, woken: () => void) {
      const waiting: Delta[] = []
      const tell = (delta: Delta) => {
        if (waiting.length === mostWaiting) waiting.shift()
        waiting.push(delta)
        woken()
      }
      const all = viewers.get(conversation) ?? new Set()
      viewers.set(conversation, all.add(tell))
      return {
        take: (): Delta[] => waiting.splice(0),
        close(): void {
          all.delete(tell)
          if (all.size === 0) viewers.delete(conversation)
        },
      }
    },
  }
}
