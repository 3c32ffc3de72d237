import { Interrupted, onStop, orAborted, over, PauseRequested } from './stop.ts'
import type { Work } from './work.ts'

/**
 * Does one thing that may take long, with a signal that is aborted when the run is stopped at once: by the run's own signal
 * or by an InterruptEvent that anybody appends meanwhile. What others append is in the log when it resolves.
 */
export async function step<T>(work: Work, body: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const own = new AbortController()
  const done = new AbortController()
  const letGo = onStop(work.signal, (reason) => own.abort(reason))
  const listening = listen(work, done.signal, (reason) => own.abort(reason))
  try {
    return await body(own.signal)
  } finally {
    letGo()
    done.abort(over)
    await listening
  }
}

async function listen(
  { journal, sinceSeq, pause }: Work,
  done: AbortSignal,
  stop: (reason: unknown) => void,
): Promise<void> {
  try {
    while (!done.aborted) {
      await orAborted(journal.log.woken(done), done)
      if (done.aborted) return
      await journal.drain()
      if (journal.state.pauseAsked > sinceSeq) pause.abort(new PauseRequested())
      if (journal.state.interruptAsked > sinceSeq) return stop(new Interrupted('The user interrupted the run.'))
    }
  } catch (error) {
    if (!done.aborted) stop(error)
  }
}
