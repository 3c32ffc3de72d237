import type { LogEvent } from '@parley/contract/events'
import type { Metrics } from '@parley/contract/metrics'
import type { Subject } from '../conversations/service.ts'
import type { CallbackRow, CallbackStatus } from './store.ts'

/*
 * A processor: what is done with an event once it is stored. It reads the log and never writes it, so nothing of what it does
 * comes into the history that the model sees.
 */

export interface Occasion {
  callback: CallbackRow
  event: LogEvent
  subject: Subject
  /** Ends the work: its deadline, or this replica stops. */
  signal: AbortSignal
}

export interface Outcome {
  status: 'SUCCESS' | 'ERROR'
  /** Safe to show. */
  detail: string | null
  /** What becomes of the callback; ACTIVE unless said: it goes on with the next event. */
  becomes?: CallbackStatus
  /** What a model was used for it. */
  used?: Metrics
}

/** Undefined: the event is nothing to it. What it throws becomes an outcome with `ERROR`. */
export type Work = (occasion: Occasion) => Promise<Outcome | undefined>
