import { randomUUID } from 'node:crypto'

/** Collects topics and sends them together: at once after a rest, else at most once in 5 ms and never two at a time. */
export interface Batch {
  /** Stands first in every payload, so that the sender knows its own. */
  origin: string
  add(topic: string): void
  /** Sends what is left. */
  close(): Promise<void>
}

const spaceMs = 5
/** PostgreSQL takes less than 8,000 bytes in one payload. */
const payloadBytes = 7_800
const mostTopics = 5_000

/** `send` gets the payloads: lines of origin and topics. When it rejects they are lost, which pollers make good. */
export function batch(send: (payloads: string[]) => Promise<void>): Batch {
  const origin = randomUUID().slice(0, 8)
  let topics = new Set<string>()
  let sending: Promise<void> | undefined

  const flush = async () => {
    while (topics.size > 0) {
      const taken = topics
      topics = new Set()
      await send(payloads(origin, taken)).catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, spaceMs))
    }
    sending = undefined
  }
  return {
    origin,
    add(topic) {
      topics.add(topic)
      if (topics.size > mostTopics) topics = new Set(['*'])
      sending ??= flush()
    },
    async close() {
      await sending
    },
  }
}

function payloads(origin: string, topics: Set<string>): string[] {
  const done: string[] = []
  let current = origin
  for (const topic of topics) {
    if (Buffer.byteLength(current) + Buffer.byteLength(topic) + 1 > payloadBytes) {
      done.push(current)
      current = origin
    }
    current += `\n${topic}`
  }
  return [...done, current]
}
