/*
 * Finds many texts in one pass (Aho–Corasick). Line breaks between the characters of a text are stepped over. Almost
 * every state has one child, kept as a character and a state; only those with more have a table.
 */

export interface Matcher {
  /** The same object may be given again with a longer text that starts the same. */
  find(text: string, cursor?: Cursor): Cursor
  /** UTF-16 units of the longest pattern. */
  readonly longest: number
}

/** How far a text has been searched. Positions are those of the text. */
export interface Cursor {
  /** What holds a pattern, in order, overlapping ones merged. */
  ranges: Range[]
  /** Where an unfinished pattern begins; the text's length when there is none. */
  open: number
  scanned: number
  state: State | null
  /** Line breaks within the unfinished pattern. */
  breaks: number[]
  /** Line breaks just before `scanned`. */
  run: number
}

export interface Range {
  start: number
  end: number
  /** Index of the longest pattern in it. */
  pattern: number
  length: number
}

const asciiSize = 128
interface State {
  char: number
  only: State | null
  ascii: (State | null)[] | null
  rest: Map<number, State> | null
  /** The state of the longest other pattern's start that this one ends with; null at the root. */
  fail: State | null
  depth: number
  /** The longest pattern that ends here, or -1. */
  pattern: number
  length: number
}

/**
 * @param patterns none empty, none with line breaks
 * @param mostBreaks more line breaks in a row than this are not stepped over
 */
export function matcher(patterns: readonly string[], mostBreaks: number): Matcher {
  const root = newState(0)
  for (const [index, pattern] of patterns.entries()) grow(root, pattern, index)
  link(root)
  const longest = patterns.reduce((most, pattern) => Math.max(most, pattern.length), 0)
  return { longest, find: (text, cursor = newCursor()) => scan(root, text, cursor, mostBreaks) }
}

const newState = (depth: number): State => ({
  char: -1,
  only: null,
  ascii: null,
  rest: null,
  fail: null,
  depth,
  pattern: -1,
  length: 0,
})

function child(state: State, char: number): State | null {
  if (state.char === char) return state.only
  if (state.ascii === null) return null
  return (char < asciiSize ? state.ascii[char] : state.rest?.get(char)) ?? null
}

function addChild(state: State, char: number): State {
  const next = newState(state.depth + 1)
  if (state.char === -1) {
    state.char = char
    state.only = next
    return next
  }
  state.ascii ??= Array.from({ length: asciiSize }, () => null)
  if (char < asciiSize) state.ascii[char] = next
  else (state.rest ??= new Map()).set(char, next)
  return next
}

function grow(root: State, pattern: string, index: number) {
  let at = root
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern.charCodeAt(i)
    at = child(at, char) ?? addChild(at, char)
  }
  at.pattern = index
  at.length = pattern.length
}

function* childrenOf(state: State): Generator<[char: number, next: State]> {
  if (state.only !== null) yield [state.char, state.only]
  if (state.ascii !== null) for (const [char, next] of state.ascii.entries()) if (next !== null) yield [char, next]
  if (state.rest !== null) yield* state.rest
}

/** Breadth first: a state's fallback is shallower and thus complete. */
function link(root: State) {
  const queue = [root]
  for (const at of queue) {
    for (const [char, next] of childrenOf(at)) {
      queue.push(next)
      const fallback = at.fail === null ? root : step(root, at.fail, char)
      next.fail = fallback
      if (next.pattern !== -1) continue
      next.pattern = fallback.pattern
      next.length = fallback.length
    }
  }
}

function step(root: State, from: State, char: number): State {
  for (let at: State | null = from; at !== null; at = at.fail) {
    const next = child(at, char)
    if (next !== null) return next
  }
  return root
}

const newCursor = (): Cursor => ({ ranges: [], open: 0, scanned: 0, state: null, breaks: [], run: 0 })

function scan(root: State, text: string, cursor: Cursor, mostBreaks: number): Cursor {
  const { ranges, breaks } = cursor
  let { run } = cursor
  let at = cursor.state ?? root
  for (let i = cursor.scanned; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === 10 || char === 13) {
      run++
      if (at !== root) breaks.push(i)
      if (run > mostBreaks) at = root
      continue
    }
    run = 0
    at = step(root, at, char)
    if (at === root && breaks.length > 0) breaks.length = 0
    if (at.pattern !== -1) merge(ranges, startOf(i + 1, at.length, breaks), i + 1, at)
  }
  while (at.only === null && at.fail !== null) at = at.fail
  const open = at === root ? text.length : startOf(text.length - run, at.depth, breaks)
  return Object.assign(cursor, { open, scanned: text.length, state: at, run })
}

/** The same cursor for the text without its first `cut` units. */
export function shift(cursor: Cursor, cut: number): Cursor {
  const ranges = cursor.ranges
    .filter((range) => range.end > cut)
    .map((range) => ({ ...range, start: range.start - cut, end: range.end - cut }))
  const breaks = cursor.breaks.filter((at) => at >= cut).map((at) => at - cut)
  return { ...cursor, ranges, breaks, open: cursor.open - cut, scanned: cursor.scanned - cut }
}

/** Where a match of `length` characters that ends before `end` begins, the line breaks in it counted in. */
function startOf(end: number, length: number, breaks: readonly number[]): number {
  let start = end - length
  for (let i = breaks.length - 1; i >= 0; i--) {
    const at = breaks[i] ?? -1
    if (at < start) break
    if (at < end) start--
  }
  return start
}

function merge(ranges: Range[], start: number, end: number, { pattern, length }: State) {
  let merged = { start, end, pattern, length }
  for (let last = ranges.at(-1); last && last.end > merged.start; last = ranges.at(-1)) {
    ranges.pop()
    const longer = last.length >= merged.length ? last : merged
    merged = { start: Math.min(last.start, merged.start), end, pattern: longer.pattern, length: longer.length }
  }
  ranges.push(merged)
}
