import { isDeepStrictEqual } from 'node:util'
import type { SandboxSpec } from './driver.ts'

/*
 * Sandboxes whose walls stand before anybody asks: a start takes one over instead of waiting for its walls. They are made one
 * at a time, and only while no start is under way.
 */

/** Names of what is nobody's begin with this. */
export const sparePrefix = 'spare-'

/** What a spare sandbox cannot change any more. */
export type Shape = Pick<SandboxSpec, 'workingDir' | 'limits'>

const pauseMs = 100
const makeMs = 15_000

interface Parts<T> {
  most: number
  shape: Shape
  make: (signal: AbortSignal) => Promise<T>
  usable: (spare: T) => boolean
  dismiss: (spare: T) => Promise<void>
}

export interface Spares<T> {
  /** One of this shape, if there is one. */
  take(spec: Shape): T | undefined
  /** Does the work of a start, while which no spare is made; what is missing is made soon after. */
  rest<R>(work: () => Promise<R>): Promise<R>
  close(): Promise<void>
}

export function keepSpares<T>({ most, shape, make, usable, dismiss }: Parts<T>): Spares<T> {
  const ready: T[] = []
  const closed = new AbortController()
  let starts = 0
  let timer: NodeJS.Timeout | undefined
  let making: Promise<void> = Promise.resolve()

  async function fill(): Promise<void> {
    while (starts === 0 && ready.length < most && !closed.signal.aborted) {
      const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(makeMs)])
      const made = await make(signal).catch(() => undefined)
      if (made === undefined) return // the next start says why none can be made
      if (closed.signal.aborted) return dismiss(made)
      ready.push(made)
    }
  }

  const fillSoon = () => {
    clearTimeout(timer)
    if (most === 0 || closed.signal.aborted) return
    timer = setTimeout(() => (making = making.then(fill)), pauseMs).unref()
  }

  return {
    take({ workingDir, limits }) {
      if (!isDeepStrictEqual({ workingDir, limits }, shape)) return undefined
      for (let spare = ready.shift(); spare !== undefined; spare = ready.shift()) {
        if (usable(spare)) return spare
        void dismiss(spare).catch(() => undefined)
      }
      return undefined
    },
    async rest(work) {
      starts += 1
      try {
        return await work()
      } finally {
        starts -= 1
        fillSoon()
      }
    },
    async close() {
      closed.abort()
      clearTimeout(timer)
      await making.catch(() => undefined)
      await Promise.all(ready.splice(0).map(dismiss))
    },
  }
}
