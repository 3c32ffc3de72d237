import type { LogEvent } from '@parley/contract/events'

/*
 * A page that is open for days must not hold days of output. What is beyond these bounds is let go of from its beginning, and
 * read again when it is scrolled to. Ten times as much is held while somebody reads what is old.
 */

export interface Bounds {
  events: number
  /** Of the events as JSON. */
  characters: number
}

const bounds: Bounds = { events: 4000, characters: 16 * 1024 * 1024 }
const whileHeld = 10

const weights = new WeakMap<LogEvent, number>()

function weightOf(event: LogEvent): number {
  const known = weights.get(event) ?? JSON.stringify(event).length
  weights.set(event, known)
  return known
}

/** The newest part of the events. It is cut to half of the bounds, so that a stream does not cut at every event. */
export function kept(
  events: readonly LogEvent[],
  isHeld: boolean,
  { events: most, characters }: Bounds = bounds,
): readonly LogEvent[] {
  const times = isHeld ? whileHeld : 1
  const weight = events.reduce((sum, event) => sum + weightOf(event), 0)
  if (events.length <= most * times && weight <= characters * times) return events
  let left = (characters * times) / 2
  let first = events.length
  while (first > 0 && events.length - first < (most * times) / 2) {
    const event = events[first - 1]
    left -= event === undefined ? 0 : weightOf(event)
    if (left < 0 && first < events.length) break
    first -= 1
  }
  return events.slice(first)
}
