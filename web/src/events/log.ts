import type { Parley } from '@parley/client/client'
import { follow } from '@parley/client/follow'
import type { Delta, LogEvent } from '@parley/contract/events'
import { client } from '../api.ts'
import { withDelta, withoutStored } from './live.ts'
import { type OpenLog, openState } from './log-state.ts'

/*
 * The log of one conversation as the page holds it: the newest part without a gap, what is being written, and whether the
 * connection stands. What is older is loaded when it is scrolled to.
 */

const pageSize = 100

/** Follows the conversation until the signal aborts. */
export function openLog(id: string, signal: AbortSignal): OpenLog {
  const held = openState()

  async function run(): Promise<void> {
    const page = await client.events.search({
      params: { id },
      query: { sort_order: 'TIMESTAMP_DESC', limit: pageSize },
    })
    const events = (page.items as unknown as LogEvent[]).toReversed()
    held.set({ events, isLoaded: true, hasEarlier: (events[0]?.seq ?? 1) > 1 })
    const told = watched(client, (lostAt) => held.set({ lostAt }))
    const afterSeq = events.at(-1)?.seq ?? 0
    for await (const event of follow(told, id, { signal, live: true, afterSeq })) {
      const { lives } = held.state()
      if (event.seq === undefined) held.set({ lives: withDelta(lives, event as unknown as Delta) })
      else held.add(event as unknown as LogEvent, { lives: withoutStored(lives, event) })
    }
  }
  run().catch((error: unknown) => signal.aborted || held.set({ error, isLoaded: true }))

  async function earlier(seq?: number): Promise<void> {
    const { events, isLoadingEarlier } = held.state()
    const first = events[0]?.seq ?? 1
    const from = Math.max(0, Math.min(seq ?? first, first) - 1 - pageSize)
    if (first <= 1 || isLoadingEarlier) return
    await held.loadEarlier(async () => ({ events: await range(id, from, first - 1), hasEarlier: from > 0 }))
  }

  return { state: held.state, subscribe: held.subscribe, hold: held.hold, earlier }
}

const pagesAtOnce = 4

/** The events after `from` up to `to`. Numbers have no gaps, so every page is known before the first has come. */
async function range(id: string, from: number, to: number): Promise<LogEvent[]> {
  const pages = Array.from({ length: Math.ceil((to - from) / pageSize) }, (_, at) => from + at * pageSize)
  const found: LogEvent[][] = []
  for (let at = 0; at < pages.length; at += pagesAtOnce) {
    const some = pages.slice(at, at + pagesAtOnce).map(async (after) => {
      const limit = Math.min(pageSize, to - after)
      const page = await client.events.search({ params: { id }, query: { seq__gt: after, limit } })
      return page.items as unknown as LogEvent[]
    })
    found.push(...(await Promise.all(some)))
  }
  return found.flat()
}

/** The client, which also says when its live channel opens (null) and since when it is lost. */
function watched(parley: Parley, say: (lostAt: number | null) => void): Parley {
  let lostAt: number | null = null
  const lost = () => say((lostAt ??= Date.now()))
  const stream: Parley['events']['stream'] = async (...input) => {
    try {
      const open = await parley.events.stream(...input)
      lostAt = null
      say(null)
      return watchedFrames(open, lost)
    } catch (error) {
      lost()
      throw error
    }
  }
  return { ...parley, events: { ...parley.events, stream } }
}

async function* watchedFrames<T>(frames: AsyncIterable<T>, lost: () => void): AsyncGenerator<T> {
  try {
    yield* frames
  } finally {
    lost()
  }
}
