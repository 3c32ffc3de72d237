import { freemem, totalmem } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import type { SandboxSpec } from './driver.ts'

/*
 * Sandboxes whose walls stand before anybody asks: a start takes one of its own kind over instead of waiting for its walls. They
 * are made one at a time, and only while no start is under way and the machine has room.
 */

/** Names of what is nobody's begin with this. */
export const sparePrefix = 'spare-'

/** What a spare sandbox cannot change any more. */
export type Shape = Pick<SandboxSpec, 'image' | 'limits'>

/** So many of this shape are kept ready. */
export type Kept = Shape & { most: number }

const pauseMs = 100
const makeMs = 15_000
const noRoomMs = 10_000
/** The share of the machine's memory that those who asked for theirs shall find. */
const leastFree = 0.1

const machineHasRoom = (): boolean => freemem() >= totalmem() * leastFree

interface Parts<T> {
  kept: readonly Kept[]
  make: (shape: Shape, signal: AbortSignal) => Promise<T>
  usable: (spare: T) => boolean
  dismiss: (spare: T) => Promise<void>
  hasRoom?: () => boolean
}

interface Stock<T> {
  shape: Shape
  most: number
  ready: T[]
}

export interface Spares<T> {
  /** One of this shape, if there is one. */
  take(spec: Shape): T | undefined
  /** Does the work of a start, while which no spare is made; what is missing is made soon after. */
  rest<R>(work: () => Promise<R>): Promise<R>
  close(): Promise<void>
}

export function keepSpares<T>({ kept, make, usable, dismiss, hasRoom = machineHasRoom }: Parts<T>): Spares<T> {
  const stocks = kept.map(({ most, ...shape }): Stock<T> => ({ shape, most, ready: [] }))
  const closed = new AbortController()
  let starts = 0
  let timer: NodeJS.Timeout | undefined
  let making: Promise<void> = Promise.resolve()

  async function fill(): Promise<void> {
    const failed = new Set<Stock<T>>()
    while (starts === 0 && !closed.signal.aborted) {
      const stock = emptiest(stocks.filter((one) => !failed.has(one)))
      if (stock === undefined) return
      if (!hasRoom()) return fillIn(noRoomMs)
      const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(makeMs)])
      const made = await make(stock.shape, signal).catch(() => undefined)
      if (made === undefined) failed.add(stock) // the next start of this kind says why none can be made
      else if (closed.signal.aborted) return dismiss(made)
      else stock.ready.push(made)
    }
  }

  const fillIn = (ms: number) => {
    clearTimeout(timer)
    if (closed.signal.aborted) return
    timer = setTimeout(() => (making = making.then(fill)), ms).unref()
  }

  return {
    take({ image, limits }) {
      const ready = stocks.find(({ shape }) => isDeepStrictEqual({ image, limits }, shape))?.ready ?? []
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
        fillIn(pauseMs)
      }
    },
    async close() {
      closed.abort()
      clearTimeout(timer)
      await making.catch(() => undefined)
      await Promise.all(stocks.flatMap(({ ready }) => ready.splice(0)).map(dismiss))
    },
  }
}

/** Of those that lack some; undefined when none does. */
const emptiest = <T>(stocks: readonly Stock<T>[]): Stock<T> | undefined =>
  stocks
    .filter(({ ready, most }) => ready.length < most)
    .toSorted((one, other) => one.ready.length - other.ready.length)[0]
