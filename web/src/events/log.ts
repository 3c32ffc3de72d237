import type { Parley } from '@parley/client/client'
import { follow } from '@parley/client/follow'
import type { Delta, LogEvent } from '@parley/contract/events'
import { client } from '../api.ts'
import { kept } from './kept.ts'
import { type Lives, withDelta, withoutStored } from './live.ts'

/*
 * The log of one conversation as the page holds it: the newest part without a gap, what is being written, and whether the
 * connection stands. What is older is loaded when it is scrolled to.
 */

export interface LogState {
  events: readonly LogEvent[]
  lives: Lives
  isLoaded: boolean
  isLoadingEarlier: boolean
  /** Since when nothing has been heard of the server, in milliseconds; null while connected. */
  lostAt: number | null
  /** Why following has ended for good. */
  error: unknown
}

export interface OpenLog {
  state(): LogState
  subscribe(changed: () => void): () => void
  /** Loads what is before the first event; with a number, up to that one. */
  earlier(seq?: number): Promise<void>
  /** Nothing is let go of until the result is called: somebody reads what is old. */
  hold(): () => void
}

const pageSize = 100
const nothing: LogState = {
  events: [],
  lives: new Map(),
  isLoaded: false,
  isLoadingEarlier: false,
  lostAt: null,
  error: null,
}

/** Follows the conversation until the signal aborts. */
export function openLog(id: string, signal: AbortSignal): OpenLog {
  let state = nothing
  let fresh: LogEvent[] = []
  let holders = 0
  const listeners = new Set<() => void>()
  let isTold = false

  /** Viewers are told once a frame, however much comes. */
  function set(change: Partial<LogState>): void {
    state = { ...state, ...change }
    if (isTold) return
    isTold = true
    setTimeout(() => {
      isTold = false
      if (fresh.length > 0) state = { ...state, events: kept([...state.events, ...fresh], holders > 0) }
      fresh = []
      for (const changed of listeners) changed()
    }, 16)
  }

  function hold(): () => void {
    holders += 1
    let isHeld = true
    return () => {
      if (isHeld) holders -= 1
      isHeld = false
    }
  }

  async function run(): Promise<void> {
    const page = await client.events.search({
      params: { id },
      query: { sort_order: 'TIMESTAMP_DESC', limit: pageSize },
    })
    const events = (page.items as unknown as LogEvent[]).toReversed()
    set({ events, isLoaded: true })
    const told = watched(client, (lostAt) => set({ lostAt }))
    const afterSeq = events.at(-1)?.seq ?? 0
    for await (const event of follow(told, id, { signal, live: true, afterSeq })) {
      if (event.seq === undefined) set({ lives: withDelta(state.lives, event as unknown as Delta) })
      else {
        fresh.push(event as unknown as LogEvent)
        set({ lives: withoutStored(state.lives, event) })
      }
    }
  }
  run().catch((error: unknown) => signal.aborted || set({ error, isLoaded: true }))

  async function earlier(seq?: number): Promise<void> {
    const first = state.events[0]?.seq ?? 1
    const from = Math.max(0, Math.min(seq ?? first, first) - 1 - pageSize)
    if (first <= 1 || state.isLoadingEarlier) return
    set({ isLoadingEarlier: true })
    const release = hold()
    try {
      const loaded = await range(id, from, first - 1)
      set({ events: [...loaded, ...state.events] })
    } finally {
      release()
      set({ isLoadingEarlier: false })
    }
  }

  return {
    state: () => state,
    subscribe(changed) {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    earlier,
    hold,
  }
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
