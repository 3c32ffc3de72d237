import { v7 } from 'uuid'

/** Time and ids, given to everything that needs them so that tests can hold them still. */
export interface Clock {
  /** UTC, `Z`, three fractional digits. */
  now(): string
  /** Milliseconds since the epoch. */
  millis(): number
  /** A new UUID version 7. */
  id(): string
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => new Date().toISOString(),
  millis: () => Date.now(),
  id: () => v7(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const stop = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }, ms)
      signal?.addEventListener('abort', stop, { once: true })
    }),
}
