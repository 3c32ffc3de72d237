import type { Dialect } from './family.ts'
import type { Message } from './model.ts'
import { leadingSystem, markedPlaces } from './prompt.ts'
import { arraySpan } from './span.ts'

/*
 * A history only grows, and a call sends all of it. What the wire's library made of the unchanged part is kept as bytes, so
 * that a call converts and serialises the new messages only. The bytes sent are the same as without.
 */

export interface History {
  /** The call's messages against what is kept for this conversation. */
  plan(cacheKey: string, messages: readonly Message[]): Plan
}

export interface Plan {
  /** Convert the messages from here on. */
  readonly from: number
  readonly marked: ReadonlySet<number>
  /** The library's body, for the messages from `from` on, with the kept ones put before them. */
  splice(body: string): Uint8Array
}

interface Kept {
  messages: readonly Message[]
  marks: string
  bytes: Buffer
  used: number
}

const conversations = 4
const mostBytes = 64 * 1024 * 1024

/**
 * @param caching whether cache markers are placed
 * @param vision whether images are sent
 */
export function history(dialect: Dialect, caching: boolean, vision: boolean): History {
  const apart = vision && dialect.toolImages === 'after'

  const kept = new Map<string, Kept>()
  return {
    plan(cacheKey, messages) {
      const marked = caching && dialect.marker !== null ? markedPlaces(messages) : new Set<number>()
      if (dialect.list === null) return { from: 0, marked, splice: (body) => Buffer.from(body) }
      const old = kept.get(cacheKey)
      const usable = old !== undefined && begins(messages, old, marked) ? old : null
      const from = usable?.messages.length ?? 0
      const splice = (body: string) => {
        const { bytes, keep } = spliced(body, usable, messages, dialect, apart)
        kept.delete(cacheKey)
        if (keep !== null && keep.used <= mostBytes)
          kept.set(cacheKey, { ...keep, marks: marks(marked, keep.messages.length) })
        for (const oldest of kept.keys()) if (kept.size > conversations) kept.delete(oldest)
        return bytes
      }
      return { from, marked, splice }
    },
  }
}

const marks = (marked: ReadonlySet<number>, below: number) => [...marked].filter((place) => place < below).join()

function begins(messages: readonly Message[], old: Kept, marked: ReadonlySet<number>): boolean {
  if (old.messages.length >= messages.length) return false
  if (marks(marked, old.messages.length) !== old.marks) return false
  return old.messages.every((message, i) => same(message, messages[i]))
}

/** Messages are never changed in place, so the same parts are the same message. */
const same = (a: Message, b: Message | undefined) =>
  a === b || (b !== undefined && a.parts === b.parts && a.role === b.role && a.cache === b.cache)

function spliced(body: string, usable: Kept | null, messages: readonly Message[], dialect: Dialect, apart: boolean) {
  const span = dialect.list === null ? null : arraySpan(body, dialect.list)
  if (span === null) return { bytes: Buffer.from(body), keep: null }
  const before = usable === null ? Buffer.alloc(0) : usable.bytes.subarray(0, usable.used)
  const bytes = Buffer.concat([
    Buffer.from(body.slice(0, span.open)),
    before,
    Buffer.from((before.length > 0 && span.ends.length > 0 ? ',' : '') + body.slice(span.open)),
  ])
  const cut = lastGroup(messages, usable?.messages.length ?? 0, dialect, apart)
  const elements = span.ends.length - cut.elements
  if (cut.exact !== span.ends.length || elements <= 0) return { bytes, keep: usable }
  const added = (before.length > 0 ? ',' : '') + body.slice(span.open, span.ends[elements - 1])
  return { bytes, keep: { messages: messages.slice(0, cut.from), marks: '', ...append(usable, added) } }
}

/**
 * Where the last group of the messages begins, of how many elements it is, and how many there should be from `from` on.
 * @param apart images of tool results are one element more, after their group
 */
function lastGroup(messages: readonly Message[], from: number, dialect: Dialect, apart: boolean) {
  const start = Math.max(from, dialect.system === 'leading' ? leadingSystem(messages) : 0)
  let group = { from: start, elements: 0, exact: 0, images: false }
  let previous: Message | undefined
  for (let i = start; i < messages.length; i++) {
    const message = messages[i]
    if (message === undefined) break
    const joined = previous !== undefined && dialect.joins(previous, message)
    if (!joined) group = { from: i, elements: 0, exact: group.exact, images: false }
    const images = apart && !group.images && hasToolImage(message)
    const count = dialect.elements(message, joined) + (images ? 1 : 0)
    group.elements += count
    group.exact += count
    group.images ||= images
    previous = message
  }
  return group
}

const hasToolImage = ({ parts }: Message) =>
  parts.some((part) => part.type === 'tool-result' && part.content.some(({ type }) => type === 'image'))

function append(usable: Kept | null, text: string): { bytes: Buffer; used: number } {
  const used = usable?.used ?? 0
  const more = Buffer.byteLength(text)
  let bytes = usable?.bytes ?? Buffer.alloc(0)
  if (used + more > bytes.length) {
    const grown = Buffer.allocUnsafe(Math.max(2 * (used + more), 64 * 1024))
    bytes.copy(grown, 0, 0, used)
    bytes = grown
  }
  bytes.write(text, used)
  return { bytes, used: used + more }
}
