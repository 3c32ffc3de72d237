import type { LogEvent } from '@parley/contract/events'
import { kept } from './kept.ts'
import type { Lives } from './live.ts'

/* What a viewer sees of a log, and how it changes. */

export interface LogState {
  events: readonly LogEvent[]
  lives: Lives
  isLoaded: boolean
  /** Whether there is something before the first event. */
  hasEarlier: boolean
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

interface Earlier {
  events: readonly LogEvent[]
  hasEarlier: boolean
}

const nothing: LogState = {
  events: [],
  lives: new Map(),
  isLoaded: false,
  hasEarlier: false,
  isLoadingEarlier: false,
  lostAt: null,
  error: null,
}

export function openState() {
  let state = nothing
  let fresh: LogEvent[] = []
  let holders = 0
  const listeners = new Set<() => void>()
  let isTold = false

  /** Viewers are told 25 times a second at most, however much comes: what is written is read as one text, drawn anew each time. */
  function set(change: Partial<LogState>): void {
    state = { ...state, ...change }
    if (isTold) return
    isTold = true
    setTimeout(() => {
      isTold = false
      settle()
      for (const changed of listeners) changed()
    }, 40)
  }

  function settle(): void {
    if (fresh.length === 0) return
    const all = [...state.events, ...fresh]
    const events = kept(all, holders > 0)
    fresh = []
    state = { ...state, events, hasEarlier: state.hasEarlier || events.length < all.length }
  }

  function hold(): () => void {
    holders += 1
    let isHeld = true
    return () => {
      if (isHeld) holders -= 1
      isHeld = false
    }
  }

  return {
    state: (): LogState => state,
    set,
    hold,
    /** At the end. */
    add(event: LogEvent, change: Partial<LogState>): void {
      fresh.push(event)
      set(change)
    },
    /** At the beginning. Nothing is let go of meanwhile, so that no gap comes between. */
    async loadEarlier(load: () => Promise<Earlier>): Promise<void> {
      set({ isLoadingEarlier: true })
      const release = hold()
      try {
        const { events, hasEarlier } = await load()
        set({ events: [...events, ...state.events], hasEarlier })
      } finally {
        release()
        set({ isLoadingEarlier: false })
      }
    },
    subscribe(changed: () => void): () => void {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
  }
}
