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
  const derived: Derived = { state: newState(), view: buildView(log.events, vision), read: log.events.length }
  for (const event of log.events) fold(derived.state, event)
  let draining: Promise<void> = Promise.resolve()

  const append = (events: NewEvent[]) => {
    const { stored, durable } = log.append(...events)
    durable.catch(() => {}) // told again by `flush`, which every run awaits at its end
    catchUp(derived, log.events)
    return { stored, durable }
  }
  return {
    log,
    state: derived.state,
    get view() {
      return derived.view
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
        catchUp(derived, log.events)
      })
      return draining
    },
  }
}

interface Derived {
  readonly state: State
  view: View
  /** Events folded so far. */
  read: number
}

function catchUp(derived: Derived, events: readonly LogEvent[]): void {
  let past = false
  for (; derived.read < events.length; derived.read += 1) {
    const event = events[derived.read]
    if (event === undefined) break
    fold(derived.state, event)
    past ||= changesPast(event)
    if (!past) foldView(derived.view, event)
  }
  if (past) derived.view = buildView(events, derived.view.vision)
}
