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
  /** Parts of each message: a message that has grown is another one. */
  sizes: readonly number[]
  marked: ReadonlySet<number>
  bytes: Buffer
  /** Where each group ends, in messages and in bytes. */
  groups: readonly Group[]
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
  const kept = new Map<string, Kept>()
  return {
    plan(cacheKey, messages) {
      const marked = caching && dialect.marker !== null ? markedPlaces(messages) : new Set<number>()
      const { list } = dialect
      if (list === null) return { from: 0, marked, splice: (body) => Buffer.from(body) }
      const now = { messages: [...messages], sizes: messages.map(({ parts }) => parts.length), marked }
      const old = usable(kept.get(cacheKey), now)
      const splice = (body: string) => {
        const { sent, keep } = spliced(body, list, old, groupsOf(messages, old.end.messages, dialect, apart))
        kept.delete(cacheKey)
        if (keep.bytes.length <= mostBytes) kept.set(cacheKey, { ...now, ...keep })
        for (const oldest of kept.keys()) if (kept.size > conversations) kept.delete(oldest)
        return sent
      }
      return { from: old.end.messages, marked, splice }
    },
  }
}

type Usable = { bytes: Buffer; groups: readonly Group[]; end: Group }

/** What is kept, up to the last group that is the same now; at least one message is always left to convert. */
function usable(kept: Kept | undefined, now: Pick<Kept, 'messages' | 'sizes' | 'marked'>): Usable {
  if (kept === undefined) return { bytes: Buffer.alloc(0), groups: [], end: nothing }
  let same = 0
  const most = Math.min(kept.messages.length, now.messages.length - 1)
  while (same < most && isSame(kept, now, same)) same++
  let count = kept.groups.length
  while (count > 0 && (kept.groups[count - 1]?.messages ?? 0) > same) count--
  const groups = count === kept.groups.length ? kept.groups : kept.groups.slice(0, count)
  return { bytes: kept.bytes, groups, end: groups.at(-1) ?? nothing }
}

/** Only whole messages are added or exchanged, save that parts may be put to the end of one. */
function isSame(
  kept: Pick<Kept, 'messages' | 'sizes' | 'marked'>,
  now: Pick<Kept, 'messages' | 'sizes' | 'marked'>,
  i: number,
) {
  const [a, b] = [kept.messages[i], now.messages[i]]
  const whole = a === b || (a !== undefined && b !== undefined && a.parts === b.parts && a.role === b.role)
  return whole && kept.sizes[i] === now.sizes[i] && kept.marked.has(i) === now.marked.has(i)
}

function spliced(body: string, list: string, old: Usable, added: Elements[]) {
  const before = old.bytes.subarray(0, old.end.bytes)
  const span = arraySpan(body, list)
  if (span === null) return { sent: Buffer.from(body), keep: { bytes: old.bytes, groups: old.groups } }
  const comma = before.length > 0 && span.ends.length > 0 ? ',' : ''
  const sent = Buffer.concat([
    Buffer.from(body.slice(0, span.open)),
    before,
    Buffer.from(comma + body.slice(span.open)),
  ])
  const expected = added.reduce((sum, { elements }) => sum + elements, 0)
  if (expected !== span.ends.length) return { sent, keep: { bytes: old.bytes, groups: old.groups } }
  const groups = [...old.groups]
  let text = ''
  let [element, used] = [0, old.end.bytes]
  for (const group of added.slice(0, -1)) {
    const start = element === 0 ? span.open : (span.ends[element - 1] ?? 0) + 1
    element += group.elements
    const piece = (used > 0 ? ',' : '') + body.slice(start, span.ends[element - 1])
    if (group.elements > 0) text += piece
    used += group.elements > 0 ? Buffer.byteLength(piece) : 0
    groups.push({ messages: group.end, bytes: used })
  }
  return { sent, keep: { bytes: append(old.bytes, old.end.bytes, text), groups } }
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
