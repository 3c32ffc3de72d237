import { randomFillSync } from 'node:crypto'
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

/** Random bytes for 256 ids at a time: asking for them costs more than the rest of an id. */
const pool = new Uint8Array(256 * 16)
let used = pool.length
let last = { msecs: 0, seq: 0 }

function random(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += 16
  return pool.slice(used - 16, used)
}

export const systemClock: Clock = {
  now: () => new Date().toISOString(),
  millis: () => Date.now(),
  id() {
    // Of one millisecond each is greater than the one before.
    const msecs = Math.max(Date.now(), last.msecs)
    const bytes = random()
    const seq = msecs === last.msecs ? last.seq + 1 : ((bytes[6] ?? 0) << 16) | ((bytes[7] ?? 0) << 8) | (bytes[8] ?? 0)
    last = { msecs, seq }
    return v7({ msecs, seq, random: bytes })
  },
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
