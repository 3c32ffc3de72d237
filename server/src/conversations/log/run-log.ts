import { Fenced, type Log } from '@parley/agent/log'
import type { Delta, LogEvent, NewEvent } from '@parley/contract/events'
import type { Clock } from '@parley/store/clock'
import { newRow, record, recordOf } from './record.ts'
import type { EventRow, HeadChange, LogStore, NewEventRow } from './store.ts'

/*
 * The log as one run holds it. Appends are masked here, at the one point where events come to be, queued, and committed in
 * order by a single writer: what comes while a commit is under way goes with the next one. A gap between the seq we
 * expected and the one we got is somebody else's events, so a step without messages costs no read.
 */

/** A database that cannot keep up ends the run rather than filling the memory. */
const mostQueued = 10_000
const inboxPage = 500

interface Batch {
  rows: NewEventRow[]
  events: LogEvent[]
  change: HeadChange
  committed: PromiseWithResolvers<void>
}

export interface RunLogParts {
  conversation: string
  epoch: number
  store: Pick<LogStore, 'appendFenced' | 'after'>
  clock: Clock
  /** What is stored already, oldest first; the run goes on in this very array. */
  events: LogEvent[]
  mask: <T>(value: T) => T
  /** Called after each commit, with what was committed. */
  committed: (rows: readonly EventRow[]) => void
  publish: (delta: Delta) => void
}

export type RunLog = Log & {
  /** Events and the change of the head that belongs to them, in one commit. */
  write(events: NewEvent[], change: HeadChange): Promise<void>
  /** Somebody else may have appended. */
  stir(): void
  /** Everything up to this `seq` is in `events`; beyond it our own may stand before others' that are not read yet. */
  readonly readSeq: number
}

export function runLog(parts: RunLogParts): RunLog {
  const { conversation, epoch, store, clock, events } = parts
  /** Our own events beyond `readSeq`: what a read of the inbox must not take for news. */
  const own = new Set<string>()
  let readSeq = events.at(-1)?.seq ?? 0
  let lastSeq = readSeq
  /** There may be events of others after `readSeq`. What came since `events` was read shows with the first append. */
  let stirred = false
  /** The batch that is being filled, and the newest of all. */
  let next: Batch | undefined
  let last: Batch | undefined
  let writing = false
  let broken: unknown
  /** Who waits for `stir`. */
  const waiting = new Set<() => void>()

  function enqueue(added: readonly NewEvent[], change: HeadChange): Batch {
    next ??= { rows: [], events: [], change: {}, committed: Promise.withResolvers() }
    last = next
    next.committed.promise.catch(() => {})
    if (broken !== undefined) next.committed.reject(broken)
    for (const event of added) {
      const id = event.id ?? clock.id()
      const masked = parts.mask(event)
      const row = newRow(masked, id, clock.now())
      const stored = recordOf(masked, row, lastSeq + next.rows.length + 1)
      next.rows.push(row)
      next.events.push(stored)
      events.push(stored)
      own.add(id)
    }
    Object.assign(next.change, change)
    if (next.rows.length > mostQueued) fail(new Error('the database cannot keep up with the run'))
    if (!writing && broken === undefined) void write()
    return next
  }

  async function write(): Promise<void> {
    writing = true
    // Everything that is appended in this turn of the event loop goes into one commit.
    await Promise.resolve()
    while (next !== undefined && broken === undefined) {
      const batch = next
      next = undefined
      try {
        await commit(batch)
        batch.committed.resolve()
      } catch (error) {
        fail(error)
        batch.committed.reject(error)
      }
    }
    writing = false
  }

  async function commit(batch: Batch): Promise<void> {
    const base = await store.appendFenced(conversation, epoch, batch.rows, batch.change)
    if (base === undefined) throw new Fenced(`another worker has conversation ${conversation}`)
    batch.events.forEach((event, index) => {
      event.seq = base + index + 1
    })
    if (base !== lastSeq) stirred = true
    lastSeq = base + batch.rows.length
    if (!stirred) {
      readSeq = lastSeq
      own.clear()
      next?.events.forEach((event) => own.add(event.id))
    }
    parts.committed(batch.rows.map((row, index) => ({ ...row, seq: base + index + 1 })))
  }

  /** The first failure is everybody's, and nothing is written after it. */
  function fail(error: unknown): void {
    broken ??= error
    next?.committed.reject(broken)
  }

  return {
    events,
    append(...added) {
      const batch = enqueue(added, {})
      return { stored: batch.events.slice(-added.length), durable: batch.committed.promise }
    },
    write: (added, change) => enqueue(added, change).committed.promise,
    async flush() {
      if (broken !== undefined) throw broken
      await last?.committed.promise
    },
    publish: parts.publish,
    async inbox() {
      if (!stirred) return []
      await last?.committed.promise
      stirred = false
      const rows = await store.after(conversation, readSeq, inboxPage)
      const fresh = rows.filter((row) => !own.has(row.id)).map(record)
      readSeq = rows.at(-1)?.seq ?? readSeq
      lastSeq = Math.max(lastSeq, readSeq)
      rows.forEach((row) => own.delete(row.id))
      if (rows.length === inboxPage) stirred = true
      events.push(...fresh)
      return fresh
    },
    woken: (signal) =>
      new Promise((resolve) => {
        const done = () => {
          waiting.delete(done)
          signal.removeEventListener('abort', done)
          resolve()
        }
        waiting.add(done)
        signal.addEventListener('abort', done)
        if (stirred || signal.aborted) done()
      }),
    stir() {
      stirred = true
      for (const done of waiting) done()
    },
    get readSeq() {
      return readSeq
    },
  }
}
