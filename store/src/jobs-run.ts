import type { Clock } from './clock.ts'
import type { Database } from './database.ts'
import type { Claimed, JobRows } from './jobs-rows.ts'

/** What a run gets. */
export interface Job {
  id: string
  kind: string
  key: string
  input: unknown
  /** 1 at the first run; a takeover from a dead replica counts too, a run cut short by `stop` does not. */
  attempt: number
  /** Grows with every claim. Write it beside what the run writes to refuse an older run. */
  epoch: number
  /** Aborts with `Stopping` or `LeaseLost`; end then without a further effect. */
  signal: AbortSignal
  /**
   * Ends the job in the caller's transaction. False when another claim has taken it: roll back. Call it before the last
   * look for new work in that transaction, since it waits for those who are spawning this very job.
   */
  finish(tx: Database): Promise<boolean>
}

/** How a kind of job is run. */
export interface Kind {
  /** When it returns the job is done and its row goes; when it throws it is tried again. */
  run(job: Job): Promise<void>
  /** After the last attempt, before the row goes; tried again itself when it throws. */
  failed?(job: Job, error: unknown): Promise<void>
  /** Runs at most, the first included. */
  attempts: number
  /** The pause after the first failure, from which it grows with jitter, at most a minute or this; or one for each failure. */
  backoffMs: number | readonly number[]
  /** Runs of this kind at the same time on this replica. */
  concurrency: number
}

/** This process stops; the job goes on elsewhere. */
export class Stopping extends Error {
  override name = 'Stopping'
  constructor() {
    super('This replica is stopping.')
  }
}

/** Another replica may have the job by now. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
  constructor() {
    super('The lease of this job is lost.')
  }
}

/** Thrown by a run: the job can do nothing yet and is run again after `ms`. That is no failure, and this run does not count. */
export class Later extends Error {
  override name = 'Later'
  readonly ms: number
  constructor(ms: number) {
    super('This job waits for a better moment.')
    this.ms = ms
  }
}

export interface Running {
  row: Claimed
  abort: AbortController
  done: Promise<void>
  /** Fires when the lease is over by our own clock. */
  expiry?: NodeJS.Timeout
}

export interface Runner {
  rows: JobRows
  kind: Kind
  database: Database
  clock: Clock
  log: (message: string, details?: Record<string, unknown>) => void
}

/** Runs one claimed job to its end, whatever that is. Never rejects. */
export async function runClaimed(runner: Runner, { row, abort }: Running): Promise<void> {
  const { kind, rows, database } = runner
  let finished = false
  const job: Job = {
    id: row.id,
    kind: row.kind,
    key: row.key,
    input: row.input,
    attempt: row.attempt,
    epoch: row.epoch,
    signal: abort.signal,
    async finish(tx) {
      const ours = await rows.remove(tx, row)
      if (ours) tx.afterCommit(() => (finished = true))
      else abort.abort(new LeaseLost())
      return ours
    },
  }
  try {
    if (row.attempt > kind.attempts) throw new Error(row.last_error ?? 'Every run of this job was cut off.')
    await kind.run(job)
    if (!finished) await untilKept(runner, abort.signal, () => rows.remove(database, row))
  } catch (error) {
    if (!finished) await afterThrow(runner, job, row, error)
  }
}

async function afterThrow(runner: Runner, job: Job, row: Claimed, error: unknown): Promise<void> {
  const { kind, rows, log } = runner
  const { reason } = job.signal
  if (reason instanceof LeaseLost) return
  if (reason instanceof Stopping) return untilKept(runner, job.signal, () => rows.handBack(row))
  if (error instanceof Later) return untilKept(runner, job.signal, () => rows.postpone(row, error.ms))
  log('A job failed.', { kind: row.kind, key: row.key, attempt: row.attempt, error })
  if (row.attempt < kind.attempts)
    return untilKept(runner, job.signal, () => rows.retry(row, pause(kind, row.attempt), textOf(error)))
  try {
    await kind.failed?.(job, error)
    await untilKept(runner, job.signal, () => rows.remove(runner.database, row))
  } catch (second) {
    log('The end of a failed job failed.', { kind: row.kind, key: row.key, error: second })
    await untilKept(runner, job.signal, () => rows.retry(row, pause(kind, row.attempt), textOf(error)))
  }
}

/** Through an outage of the database, as long as the lease lasts; after that whoever claims the job does it. */
async function untilKept(runner: Runner, signal: AbortSignal, write: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 50; tries++) {
    try {
      return void (await write())
    } catch (error) {
      if (signal.reason instanceof LeaseLost) return
      runner.log('The end of a job could not be written yet.', { error })
      await runner.clock.sleep(100)
    }
  }
}

const longestMs = 60_000

/** Random between the base and three times what the last failure could have waited, so that failures spread out. */
function pause({ backoffMs }: Kind, failures: number): number {
  if (typeof backoffMs !== 'number') return backoffMs[Math.min(failures, backoffMs.length) - 1] ?? 0
  const most = Math.min(backoffMs * 3 ** failures, Math.max(longestMs, backoffMs))
  return backoffMs + Math.random() * (most - backoffMs)
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 2_000)
