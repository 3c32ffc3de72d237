import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'

/*
 * How often someone may be wrong: windows of a minute, counted in this replica. A window remembers what was wrong in it, so
 * that one stale key asked with again and again is one mistake, and twenty different ones are guessing.
 */

export interface Tries {
  /** Whether more than `times` the allowed mistakes have been made in the open window. */
  isOver(from: string, times?: number): boolean
  /** Notes a mistake; the same `what` counts once. Throws `quota_exceeded` once there are too many. */
  wrong(from: string, what?: string): void
  /** Throws `quota_exceeded` when there have been too many mistakes already. */
  mayTry(from: string): void
}

interface Window {
  until: number
  seen: Set<string>
  more: number
}

const windowMs = 60_000
const mostWindows = 10_000

export function countTries(allowed: number, clock: Pick<Clock, 'millis'>): Tries {
  const windows = new Map<string, Window>()

  function open(from: string): Window | undefined {
    const window = windows.get(from)
    if (window === undefined || window.until > clock.millis()) return window
    windows.delete(from)
    return undefined
  }

  function begin(from: string): Window {
    const [oldest] = windows.keys()
    if (windows.size >= mostWindows && oldest !== undefined) windows.delete(oldest)
    const window = { until: clock.millis() + windowMs, seen: new Set<string>(), more: 0 }
    windows.set(from, window)
    return window
  }

  const count = (window: Window | undefined) => (window === undefined ? 0 : window.seen.size + window.more)

  function refuse(window: Window): never {
    const retryAfter = Math.ceil((window.until - clock.millis()) / 1_000)
    throw new Problem('quota_exceeded', 'Too many wrong tries; wait a minute.', { retryAfter })
  }

  return {
    isOver: (from, times = 1) => count(open(from)) > allowed * times,

    wrong(from, what) {
      const window = open(from) ?? begin(from)
      if (what !== undefined && window.seen.has(what)) return
      if (what !== undefined && window.seen.size < allowed) window.seen.add(what)
      else window.more += 1
      if (count(window) > allowed) refuse(window)
    },

    mayTry(from) {
      const window = open(from)
      if (window !== undefined && count(window) >= allowed) refuse(window)
    },
  }
}
