import type { LogEvent } from '@parley/contract/events'
import { Problem } from '@parley/contract/problems'
import type { Processor } from '@parley/contract/processors'
import { ForgeError } from '@parley/forge/forge'
import type { Clock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import type { Job } from '@parley/store/jobs'
import { type LogStore, record, type Subject, type SubjectStore } from '../conversations/service.ts'
import type { Outcome, Work } from './processor.ts'
import type { CallbackRow, ProcessorStore } from './store.ts'

/* One pass over what is new in the log of one conversation. */

export interface ReadParts {
  store: ProcessorStore
  subjects: SubjectStore
  logs: Pick<LogStore, 'after' | 'lastOfAgent'>
  /** The same of conversations, as part of a transaction. */
  within: (tx: Database) => { subjects: Pick<SubjectStore, 'isRunning'>; logs: Pick<LogStore, 'metrics' | 'count'> }
  clock: Clock
  table: Record<Processor['kind'], { work: Work; on: string }>
  log: (message: string, details?: Record<string, unknown>) => void
}

const pageSize = 200
const setTitle = { kind: 'SetTitleCallbackProcessor' } as const

/** Somebody has appended while the pass was ending. */
class More extends Error {}

export async function readLog(parts: ReadParts, job: Job): Promise<void> {
  const { store, logs } = parts
  for (;;) {
    job.signal.throwIfAborted()
    const reader = await store.reader(job.key)
    if (reader === undefined) return
    if (!reader.adopted) await adopt(parts, job.key)
    const rows = await logs.after(job.key, reader.seq, pageSize)
    const callbacks = (await store.callbacks(job.key)).filter((one) => one.status === 'ACTIVE')
    for (const row of rows) {
      const wanting = callbacks.filter((one) => one.event_kind === row.kind)
      if (wanting.length > 0) await handle(parts, job, record(row), wanting)
    }
    const last = rows.at(-1)
    if (last !== undefined) await store.advance(job.key, last.seq)
    else if (await end(parts, job)) return
  }
}

async function adopt({ store, subjects, clock, table }: ReadParts, conversation: string): Promise<void> {
  const asked = await subjects.asked(conversation)
  const said = asked?.processors ?? []
  // A title comes from the first message, unless one was given.
  const isTitled = asked?.title_given === true || said.some(({ kind }) => kind === setTitle.kind)
  const wanted: Processor[] = isTitled ? said : [...said, setTitle]
  const callbacks = wanted.map((processor) => ({
    id: clock.id(),
    processor,
    event_kind: table[processor.kind].on,
  }))
  await store.transaction((rows) => rows.adopt(conversation, callbacks))
}

/** All at once, and what one of them does is nothing to the others. */
async function handle(parts: ReadParts, job: Job, event: LogEvent, callbacks: CallbackRow[]): Promise<void> {
  const subject = await parts.subjects.find(job.key)
  if (subject === undefined) return
  const done = await Promise.allSettled(callbacks.map((callback) => one(parts, job, { event, callback, subject })))
  const failed = done.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

async function one(
  { store, clock, table, log }: ReadParts,
  job: Job,
  { event, callback, subject }: { event: LogEvent; callback: CallbackRow; subject: Subject },
): Promise<void> {
  if (callback.status !== 'ACTIVE' || (await store.isDone(callback.id, event.id))) return
  const occasion = { event, callback, subject, signal: job.signal }
  const outcome = await table[callback.processor.kind].work(occasion).catch((error: unknown): Outcome => {
    if (job.signal.aborted) throw job.signal.reason
    log('A processor failed.', { conversation: subject.id, kind: callback.processor.kind, event: event.id, error })
    return { status: 'ERROR', detail: shown(error) }
  })
  if (outcome === undefined) return
  const becomes = outcome.becomes ?? 'ACTIVE'
  const result = { id: clock.id(), event_callback_id: callback.id, event_id: event.id }
  const row = { ...result, status: outcome.status, detail: outcome.detail?.slice(0, 2_000) ?? null }
  await store.transaction((rows) => rows.settle(subject.id, row, becomes, outcome.used ?? null))
  // For the events that follow in this very pass.
  callback.status = becomes
}

const shown = (error: unknown): string => {
  if (error instanceof Problem) return error.detail
  return error instanceof ForgeError ? error.message : 'The processor failed inside the service; its log has the cause.'
}

/**
 * Counts what callbacks have used, under the usage id `title`. A run holds the sum of a conversation in its memory and writes
 * it whole, so this waits until none is under way.
 */
async function bill({ store, within }: ReadParts, conversation: string): Promise<void> {
  await store.transaction(async (rows, tx) => {
    const { subjects, logs } = within(tx)
    await logs.metrics(conversation) // holds the head, so that no run begins meanwhile
    if (await subjects.isRunning(conversation)) return
    for (const used of await rows.takeUnbilled(conversation)) await logs.count(conversation, 'title', used)
  })
}

/** False when there is more to read. */
async function end(parts: ReadParts, job: Job): Promise<boolean> {
  const { store } = parts
  await bill(parts, job.key)
  try {
    await store.transaction(async (rows, tx) => {
      // Another claim has taken the job: it goes on.
      if (!(await job.finish(tx))) throw new Error('the lease of the job is lost')
      if (!(await rows.rest(job.key))) throw new More()
    })
    return true
  } catch (error) {
    if (error instanceof More) return false
    throw error
  }
}
