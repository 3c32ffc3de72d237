/*
 * How a run is stopped from outside. The reason of the signal says which way:
 * `PauseRequested` the step under way ends first; `Interrupted` at once, and every open call gets its result;
 * anything else hands the run back: it ends without a further word, and the next worker goes on from the log.
 */

export class PauseRequested extends Error {
  override name = 'PauseRequested'
}

export class Interrupted extends Error {
  override name = 'Interrupted'
}

export class HandedBack extends Error {
  override name = 'HandedBack'
}

/** Why a signal of the loop's own is aborted when all is well: one object for all, since a new error costs a stack. */
export const over = new Error('over')

/** Calls `then` when the signal tells to stop at once; a request to pause does not. Gives the function that lets go. */
export function onStop(signal: AbortSignal, then: (reason: unknown) => void): () => void {
  const tell = () => {
    if (!(signal.reason instanceof PauseRequested)) then(signal.reason)
  }
  if (signal.aborted) tell()
  signal.addEventListener('abort', tell, { once: true })
  return () => signal.removeEventListener('abort', tell)
}

/** Rejects as soon as the signal is aborted; else as the promise does. What is given up must not matter any more. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
