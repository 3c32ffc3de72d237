import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'

/*
 * How many different bad keys an address has come with in the open minute, as this replica has seen it: a key cannot be
 * guessed, so this keeps work away and needs no row of its own. One stale key asked with again and again is one mistake.
 */

export interface BadKeys {
  /** Whether more than `times` the allowed mistakes have been made in the open window. */
  isOver(from: string, times: number): boolean
  /** Notes a mistake; the same `what` counts once. Throws `quota_exceeded` once there are too many. */
  wrong(from: string, what: string): void
}

interface Window {
  until: number
  seen: Set<string>
  more: number
}

const windowMs = 60_000
const mostWindows = 10_000

export function countBadKeys(allowed: number, clock: Pick<Clock, 'millis'>): BadKeys {
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

  return {
    isOver: (from, times) => count(open(from)) > allowed * times,

    wrong(from, what) {
      const window = open(from) ?? begin(from)
      if (window.seen.has(what)) return
      if (window.seen.size < allowed) window.seen.add(what)
      else window.more += 1
      if (count(window) <= allowed) return
      const retryAfter = Math.ceil((window.until - clock.millis()) / 1_000)
      throw new Problem('quota_exceeded', 'Too many bad keys; wait a minute.', { retryAfter })
    },
  }
}
