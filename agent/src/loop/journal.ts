import type { LogEvent, NewEvent } from '@parley/contract/events'
import type { Log } from '../log.ts'
import { fold, newState, type State } from './state.ts'
import { buildView, changesPast, foldView, type View } from './view.ts'

/** The log with everything that is derived from it, kept up to date event by event. */
export interface Journal {
  readonly log: Log
  readonly state: State
  readonly view: View
  /** Appends; state and view know it at once, durable it is when `commit` or a later one resolves. */
  write(...events: NewEvent[]): LogEvent[]
  /** Appends and waits until it is durable. Rejects with `Fenced`. */
  commit(...events: NewEvent[]): Promise<LogEvent[]>
  /** Takes in what others appended. One at a time, however many ask. */
  drain(): Promise<void>
}

export function openJournal(log: Log, vision: boolean): Journal {
  const state = newState()
  let view = buildView(log.events, vision)
  for (const event of log.events) fold(state, event)
  let read = log.events.length
  let draining: Promise<void> = Promise.resolve()

  const catchUp = () => {
    let past = false
    for (; read < log.events.length; read += 1) {
      const event = log.events[read]
      if (event === undefined) break
      fold(state, event)
      past ||= changesPast(event)
      if (!past) foldView(view, event)
    }
    if (past) view = buildView(log.events, vision)
  }
  const append = (events: NewEvent[]) => {
    const { stored, durable } = log.append(...events)
    durable.catch(() => {}) // told again by `flush`, which every commit awaits
    catchUp()
    return { stored, durable }
  }
  return {
    log,
    state,
    get view() {
      return view
    },
    write: (...events) => append(events).stored,
    async commit(...events) {
      const { stored, durable } = append(events)
      await durable
      return stored
    },
    drain() {
      draining = draining.then(async () => {
        await log.inbox()
        catchUp()
      })
      return draining
    },
  }
}
