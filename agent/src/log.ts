import type { Delta, LogEvent, NewEvent } from '@parley/contract/events'

/*
 * The event log as the brain sees it. The caller gives one that is durable, masked and fenced: an append of a worker that
 * has lost its lease rejects with `Fenced`, and the run must end without a further word.
 */

export interface Log {
  /** Every stored event so far, oldest first; grows with each append. Do not change it. */
  readonly events: readonly LogEvent[]
  /**
   * Appends in order and gives the stored form at once; the promise in `durable` resolves when it is committed. Appends are
   * committed in order, so awaiting the last is awaiting all. Act only after the action's own append is durable.
   */
  append(...events: NewEvent[]): { stored: LogEvent[]; durable: Promise<void> }
  /** Resolves when everything appended so far is committed; rejects with `Fenced`. */
  flush(): Promise<void>
  /** To live viewers only. Never throws, never waits. */
  publish(delta: Delta): void
  /** Events that others appended (messages, pause requests) since the last call; they are in `events` from then on. */
  inbox(): Promise<LogEvent[]>
  /** Everything up to this `seq` is in `events`; beyond it our own events may stand before others' that we have not read. */
  readonly readSeq: number
  /** Resolves when `inbox` may have something. Rejects or resolves when the signal is aborted, without a read for it. */
  woken(signal: AbortSignal): Promise<void>
}

export class Fenced extends Error {
  override name = 'Fenced'
}
