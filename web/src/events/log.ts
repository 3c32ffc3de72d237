import type { Parley } from '@parley/client/client'
import { follow } from '@parley/client/follow'
import type { Delta, LogEvent } from '@parley/contract/events'
import { client } from '../api.ts'
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
  const listeners = new Set<() => void>()
  let isTold = false

  /** Viewers are told once a frame, however much comes. */
  function set(change: Partial<LogState>): void {
    state = { ...state, ...change }
    if (isTold) return
    isTold = true
    setTimeout(() => {
      isTold = false
      for (const changed of listeners) changed()
    }, 16)
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
      else set({ events: [...state.events, event as unknown as LogEvent], lives: withoutStored(state.lives, event) })
    }
  }
  run().catch((error: unknown) => signal.aborted || set({ error, isLoaded: true }))

  async function earlier(seq?: number): Promise<void> {
    const first = state.events[0]?.seq ?? 1
    const from = Math.max(0, Math.min(seq ?? first, first) - 1 - pageSize)
    if (first <= 1 || state.isLoadingEarlier) return
    set({ isLoadingEarlier: true })
    try {
      const loaded: LogEvent[] = []
      for (let after = from; after < first - 1; after = loaded.at(-1)?.seq ?? first) {
        const page = await client.events.search({ params: { id }, query: { seq__gt: after, limit: pageSize } })
        loaded.push(...(page.items as unknown as LogEvent[]))
      }
      set({ events: [...loaded.filter((event) => event.seq < first), ...state.events] })
    } finally {
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
  }
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
