import { matcher, shift, type Cursor, type Matcher, type Range } from './matcher.ts'
import { formsOf } from './secret-forms.ts'

/*
 * Hides the values of secrets wherever text leaves the brain. Each value is hidden as it is and as base64, hex, URL-encoded
 * and JSON-escaped text, also when line breaks or the edges of chunks fall into it.
 */

export interface Masker {
  text(text: string): string
  /** A copy with every string and key in it masked; the same object when there was nothing to hide. */
  value<T>(json: T): T
  /** For text that comes in pieces: what could be the start of a secret is held back until the next piece or the end. */
  stream(): { push(chunk: string): string; end(): string }
  /** From now on, also for streams already open. Values under 6 characters are not hidden. */
  add(name: string, value: string): void
}

export function masker(secrets: readonly { name: string; value: string }[]): Masker {
  const known = new Map<string, string>()
  let mostBreaks = 2
  let compiled: { names: string[]; matcher: Matcher } | null = null

  const compile = () => (compiled ??= { names: [...known.values()], matcher: matcher([...known.keys()], mostBreaks) })
  const replace = (text: string, ranges: readonly Range[], to: number) => {
    const { names } = compile()
    let out = ''
    let from = 0
    for (const { start, end, pattern } of ranges) {
      out += `${text.slice(from, start)}<secret:${names[pattern]}>`
      from = end
    }
    return from === 0 ? text.slice(0, to) : out + text.slice(from, to)
  }
  const text = (raw: string) => {
    if (known.size === 0 || raw.length === 0) return raw
    const { ranges } = compile().matcher.find(raw)
    return ranges.length === 0 ? raw : replace(raw, ranges, raw.length)
  }
  const add = (name: string, value: string) => {
    for (const [run] of value.matchAll(/[\r\n]+/g)) mostBreaks = Math.max(mostBreaks, run.length)
    for (const form of formsOf(value)) {
      if (known.has(form)) continue
      known.set(form, name)
      compiled = null
    }
  }
  for (const { name, value } of secrets) add(name, value)
  const stream = () => maskedStream(text, () => (known.size === 0 ? null : compile().matcher), replace)
  return { text, add, stream, value: <T>(json: T) => (known.size === 0 ? json : (deep(json, text) as T)) }
}

type Replace = (text: string, ranges: readonly Range[], to: number) => string

function maskedStream(text: (raw: string) => string, current: () => Matcher | null, replace: Replace) {
  let held = ''
  let seen: { by: Matcher; cursor: Cursor } | null = null
  return {
    push(chunk: string): string {
      const raw = held + chunk
      held = ''
      const matcher = current()
      if (matcher === null) return raw
      const cursor = matcher.find(raw, seen?.by === matcher ? seen.cursor : undefined)
      const cut = cutBefore(cursor, raw.length - 4 * matcher.longest)
      held = raw.slice(cut)
      seen = cut > cursor.open ? null : { by: matcher, cursor: shift(cursor, cut) }
      const whole = cursor.ranges.filter((range) => range.end <= cut)
      return replace(raw, whole, cut)
    },
    end(): string {
      const rest = text(held)
      held = ''
      seen = null
      return rest
    },
  }
}

/** Matches that the open end overlaps are held whole, but a chain of them no longer than `farthest` allows. */
function cutBefore({ ranges, open }: Cursor, farthest: number): number {
  let cut = open
  for (const range of ranges.toReversed()) {
    if (range.end <= cut) break
    cut = Math.min(cut, range.start)
  }
  return cut < farthest ? (ranges.at(-1)?.end ?? cut) : cut
}

function deep(json: unknown, text: (raw: string) => string): unknown {
  if (typeof json === 'string') return text(json)
  if (typeof json !== 'object' || json === null) return json
  if (Array.isArray(json)) {
    const copy = json.map((item) => deep(item, text))
    return copy.some((item, i) => item !== json[i]) ? copy : json
  }
  let changed = false
  const copy = Object.entries(json).map(([key, item]) => {
    const pair = [text(key), deep(item, text)] as const
    changed ||= pair[0] !== key || pair[1] !== item
    return pair
  })
  return changed ? Object.fromEntries(copy) : json
}
