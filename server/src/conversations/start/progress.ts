import type { StartTaskStatus } from '@parley/contract/start-tasks'
import type { Hands } from '@parley/sandbox/driver'
import type { Clock } from '@parley/store/clock'
import type { SettingsService } from '../../settings/service.ts'
import type { StartTasks } from './start-tasks.ts'
import type { StartNotice, StartTaskRow, TaskChange } from './store.ts'

/** What this worker has seen on its way; one that takes over looks again. */
export interface Known {
  hands?: Promise<Hands>
  settings?: ReturnType<SettingsService['stored']>
  /** The workspace and the home are new: there is nothing in them to look for. */
  empty?: boolean
  /** That changes of the workspace can be told. It is made while the start goes on. */
  history?: Promise<void> | undefined
  /** The path of the sandbox's browser. */
  browser?: Promise<string | null>
}

/**
 * How far a start has come, for the worker that does it. What is said here holds for the worker at once and is written down
 * behind it, in order, together with what was said meanwhile: a start does not wait for the database at each of its statuses.
 * What a crash leaves unwritten is done again.
 */
export interface Progress {
  /** As the worker knows it. */
  readonly task: StartTaskRow
  readonly known: Known
  pass(status: StartTaskStatus): void
  /** What the status is about, while the task stays in it. */
  tell(detail: string): void
  placed(sandbox: string, made: boolean): void
  notice(said: StartNotice): void
  /** Resolves when all that was said is stored: false when the task had ended meanwhile. Rejects when it could not be stored. */
  written(): Promise<boolean>
  /** Whether a write has found the task ended by somebody else. */
  ended(): boolean
}

export function progressOf(tasks: Pick<StartTasks, 'pass'>, clock: Clock, read: StartTaskRow): Progress {
  let task = read
  let waiting: TaskChange | null = null
  let ended = false
  let writing: Promise<boolean> = Promise.resolve(true)

  const write = async (): Promise<boolean> => {
    const change = waiting
    waiting = null
    if (!ended && change !== null && (await tasks.pass(task.id, change)) === undefined) ended = true
    return !ended
  }

  function say(change: TaskChange, known: Partial<StartTaskRow>): void {
    task = { ...task, ...known }
    const first = waiting === null
    waiting = waiting === null ? change : both(waiting, change)
    if (!first) return
    writing = writing.then(write)
    writing.catch(() => {}) // told by `written`
  }

  return {
    known: {},
    get task() {
      return task
    },
    pass: (status) => say({ passed: [{ status, at: clock.now() }] }, { status }),
    tell: (detail) => say({ passed: [{ status: task.status, at: clock.now(), detail }] }, {}),
    placed: (sandbox_id, made_sandbox) => say({ sandbox_id, made_sandbox }, { sandbox_id, made_sandbox }),
    notice: (said) => say({ notices: [said] }, { notices: [...task.notices, said] }),
    written: () => writing,
    ended: () => ended,
  }
}

const both = (first: TaskChange, second: TaskChange): TaskChange => ({
  ...first,
  ...second,
  passed: [...(first.passed ?? []), ...(second.passed ?? [])],
  notices: [...(first.notices ?? []), ...(second.notices ?? [])],
})
