import type { Dialect } from './family.ts'
import type { Message } from './model.ts'
import { leadingSystem, markedPlaces } from './prompt.ts'
import { arraySpan, type Span } from './span.ts'

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
  messages: Message[]
  /** Parts of each message: a message that has grown is another one. */
  sizes: number[]
  marked: ReadonlySet<number>
  bytes: Buffer
  /** Where each group ends, in messages and in bytes. */
  groups: Group[]
}

interface Group {
  messages: number
  bytes: number
}

const conversations = 4
const mostBytes = 64 * 1024 * 1024
const nothing: Group = { messages: 0, bytes: 0 }

/**
 * @param caching whether cache markers are placed
 * @param vision whether images are sent
 */
export function history(dialect: Dialect, caching: boolean, vision: boolean): History {
  const apart = vision && dialect.toolImages === 'after'
  const all = new Map<string, Kept>()
  return {
    plan(cacheKey, messages) {
      const marked = caching && dialect.marker !== null ? markedPlaces(messages) : new Set<number>()
      const { list } = dialect
      if (list === null) return { from: 0, marked, splice: (body) => Buffer.from(body) }
      const kept = all.get(cacheKey) ?? { messages: [], sizes: [], marked, bytes: Buffer.alloc(0), groups: [] }
      // It is this plan's alone until the body is made; a call at the same time starts from nothing.
      all.delete(cacheKey)
      const end = goBack(kept, messages, marked)
      const splice = (body: string) => {
        const sent = spliced(kept, body, list, groupsOf(messages, end.messages, dialect, apart))
        remember(kept, messages, marked)
        if (kept.bytes.length <= mostBytes) all.set(cacheKey, kept)
        for (const oldest of all.keys()) if (all.size > conversations) all.delete(oldest)
        return sent
      }
      return { from: end.messages, marked, splice }
    },
  }
}

/** Drops what is not the same now; at least one message is always left to convert. Its end is answered. */
function goBack(kept: Kept, messages: readonly Message[], marked: ReadonlySet<number>): Group {
  let same = 0
  const most = Math.min(kept.messages.length, messages.length - 1)
  while (same < most && isSame(kept, messages, same)) same++
  for (const place of marked) if (!kept.marked.has(place)) same = Math.min(same, place)
  for (const place of kept.marked) if (!marked.has(place)) same = Math.min(same, place)
  while ((kept.groups.at(-1) ?? nothing).messages > same) kept.groups.pop()
  return kept.groups.at(-1) ?? nothing
}

/** Only whole messages are added or exchanged, save that parts may be put to the end of one. */
function isSame(kept: Kept, messages: readonly Message[], i: number): boolean {
  const [a, b] = [kept.messages[i], messages[i]]
  if (a === undefined || b === undefined || kept.sizes[i] !== b.parts.length) return false
  return a === b || (a.parts === b.parts && a.role === b.role)
}

function remember(kept: Kept, messages: readonly Message[], marked: ReadonlySet<number>): void {
  kept.marked = marked
  const end = kept.groups.at(-1)?.messages ?? 0
  kept.messages.length = kept.sizes.length = Math.min(kept.messages.length, end)
  for (const message of messages.slice(kept.messages.length, end)) {
    kept.messages.push(message)
    kept.sizes.push(message.parts.length)
  }
}

/** The body with the kept messages before its own, which are kept from now on: all but the last group, which may grow. */
function spliced(kept: Kept, body: string, list: string, added: readonly Elements[]): Uint8Array {
  const used = kept.groups.at(-1)?.bytes ?? 0
  const before = kept.bytes.subarray(0, used)
  const span = arraySpan(body, list)
  if (span === null) return Buffer.from(body)
  const comma = used > 0 && span.ends.length > 0 ? ',' : ''
  const sent = Buffer.concat([
    Buffer.from(body.slice(0, span.open)),
    before,
    Buffer.from(comma + body.slice(span.open)),
  ])
  const expected = added.reduce((sum, { elements }) => sum + elements, 0)
  if (expected === span.ends.length) keep(kept, body, span, added)
  return sent
}

function keep(kept: Kept, body: string, span: Span, added: readonly Elements[]): void {
  const before = kept.groups.at(-1)?.bytes ?? 0
  let [element, used, text] = [0, before, '']
  for (const group of added.slice(0, -1)) {
    const start = element === 0 ? span.open : (span.ends[element - 1] ?? 0) + 1
    element += group.elements
    const piece = (used > 0 ? ',' : '') + body.slice(start, span.ends[element - 1])
    if (group.elements > 0) text += piece
    used += group.elements > 0 ? Buffer.byteLength(piece) : 0
    kept.groups.push({ messages: group.end, bytes: used })
  }
  kept.bytes = append(kept.bytes, before, text)
}

interface Elements {
  /** Index after its last message. */
  end: number
  elements: number
}

/**
 * The groups of the messages from `from` on, with the elements of the list that each becomes.
 * @param apart images of tool results are one element more, after their group
 */
function groupsOf(messages: readonly Message[], from: number, dialect: Dialect, apart: boolean): Elements[] {
  const start = Math.max(from, dialect.system === 'leading' ? leadingSystem(messages) : 0)
  const groups: Elements[] = []
  let images = false
  for (let i = start; i < messages.length; i++) {
    const [previous, message] = [messages[i - 1], messages[i]]
    if (message === undefined) break
    const joined = i > start && previous !== undefined && dialect.joins(previous, message)
    if (!joined) images = false
    const more: boolean = apart && !images && hasToolImage(message)
    images ||= more
    const elements = dialect.elements(message, joined) + (more ? 1 : 0)
    const group = joined ? groups.at(-1) : undefined
    if (group === undefined) groups.push({ end: i + 1, elements })
    else Object.assign(group, { end: i + 1, elements: group.elements + elements })
  }
  return groups
}

const hasToolImage = ({ parts }: Message) =>
  parts.some((part) => part.type === 'tool-result' && part.content.some(({ type }) => type === 'image'))

/** `text` at `used`; grows by doubling, so that a long history is not copied at each step. */
function append(bytes: Buffer, used: number, text: string): Buffer {
  const needed = used + Buffer.byteLength(text)
  const room = needed <= bytes.length ? bytes : Buffer.allocUnsafe(Math.max(2 * needed, 64 * 1024))
  if (room !== bytes) bytes.copy(room, 0, 0, used)
  room.write(text, used)
  return room
}
