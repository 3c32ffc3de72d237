import { Problem } from '@parley/contract/problems'
import { startEnded, startTaskStatuses } from '@parley/contract/start-tasks'
import type { Clock } from '@parley/store/clock'
import { type Job, type Kind, Later } from '@parley/store/jobs'
import type { Limits } from '../../limits.ts'
import { type Progress, progressOf } from './progress.ts'
import { StartFailed } from './repository.ts'
import type { StartTasks } from './start-tasks.ts'
import type { StartTaskRow, StartTaskStore } from './store.ts'

/*
 * A start as a durable job. Its steps are the public statuses; the row is the checkpoint. A worker that takes over begins
 * again with the step the row is in, so each step may run twice and is named by the task's id. A start that fails takes the
 * sandbox it made with it.
 */

export type Working = Exclude<StartTaskRow['status'], 'READY' | 'ERROR'>
/** Does what a status stands for. */
export type Step = (progress: Progress, signal: AbortSignal) => Promise<void>

interface Parts {
  store: StartTaskStore
  tasks: StartTasks
  steps: Record<Working, Step>
  limits: Limits
  clock: Clock
  discard: (sandbox: string) => Promise<void>
  log: (message: string, details?: Record<string, unknown>) => void
}

const working = startTaskStatuses.filter((status): status is Working => !startEnded(status))

export function startJobKind(parts: Parts): Kind {
  return {
    attempts: 20,
    backoffMs: 500,
    concurrency: 50,
    run: (job) => start(parts, job),
    async failed(job, error) {
      const task = await parts.store.get(job.key)
      if (task !== undefined) await fail(parts, task, error)
    },
  }
}

async function start(parts: Parts, job: Job): Promise<void> {
  const task = await parts.store.get(job.key)
  if (task === undefined) return
  const progress = progressOf(parts.tasks, parts.clock, task)
  const deadline = AbortSignal.timeout(Math.max(1, Date.parse(task.deadline_at) - Date.now() || 1))
  while (!startEnded(progress.task.status) && !progress.ended()) {
    const status = progress.task.status as Working // the loop's condition
    try {
      await inTime(parts, progress, AbortSignal.any([job.signal, deadline]))
    } catch (error) {
      if (job.signal.aborted) throw job.signal.reason
      if (isFull(error) && !deadline.aborted) return waitForRoom(progress, error)
      if (isPassing(error) && !deadline.aborted) throw error
      // What could not be written is told by the next write.
      await progress.written().catch(() => {})
      return fail(parts, progress.task, deadline.aborted ? new StartFailed('the whole start took too long') : error)
    }
    const next: Working | undefined = working[working.indexOf(status) + 1]
    // The last step ends the task itself, together with the conversation it makes.
    if (next === undefined) return
    progress.pass(next)
  }
  const ended = await parts.store.get(task.id)
  if (ended?.status === 'ERROR') await clear(parts, progress.task)
}

async function inTime({ steps, limits }: Parts, progress: Progress, signal: AbortSignal): Promise<void> {
  const status = progress.task.status as Working // the caller's condition
  const late = AbortSignal.timeout(limits.start.steps[status])
  try {
    await steps[status](progress, AbortSignal.any([signal, late]))
  } catch (error) {
    if (late.aborted && !signal.aborted && !(error instanceof StartFailed))
      throw new StartFailed(`no end after ${Math.round(limits.start.steps[status] / 1_000)} s`, { cause: error })
    throw error
  }
}

async function fail(parts: Parts, task: StartTaskRow, error: unknown): Promise<void> {
  const why = error instanceof Error ? error.message : String(error)
  if (!(error instanceof StartFailed) && !(error instanceof Problem))
    parts.log('A start failed.', { task: task.id, status: task.status, error })
  const detail = why.startsWith('authentication error:') ? why : `${task.status}: ${why}`
  const passed = [{ status: 'ERROR' as const, at: parts.clock.now() }]
  const ended =
    (await parts.tasks.pass(task.id, { passed, detail: detail.slice(0, 8_000) })) ?? (await parts.store.get(task.id))
  if (ended?.status === 'ERROR') await clear(parts, task)
}

async function clear({ discard }: Parts, task: StartTaskRow): Promise<void> {
  // One that was made just before a crash may not be noted in the row; it has the task's name.
  if (task.made_sandbox || task.sandbox_id === null) await discard(task.sandbox_id ?? task.id)
}

/** All sandboxes that a person may have are starting: one of them will have started soon, and can make room. */
const isFull = (error: unknown): error is Problem => error instanceof Problem && error.code === 'capacity'

/** As another run of the job, so that those who wait take nobody else's place. */
async function waitForRoom(progress: Progress, { message }: Problem): Promise<never> {
  const why = `Waiting for room: ${message}`
  if (progress.task.log.at(-1)?.detail !== why) progress.tell(why)
  await progress.written()
  throw new Later(500 + Math.random() * 1_000)
}

/** The database was away or its disk was full: the step is tried again rather than given up. */
const isPassing = (error: unknown): boolean =>
  error instanceof Problem && ['unavailable', 'storage_full'].includes(error.code)
