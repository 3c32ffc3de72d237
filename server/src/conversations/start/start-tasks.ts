import { Problem } from '@parley/contract/problems'
import type { StartRequest, StartRequestEcho } from '@parley/contract/start-request'
import { startEnded, type StartLog, type StartTask } from '@parley/contract/start-tasks'
import type { Clock } from '@parley/store/clock'
import { grouped } from '@parley/store/grouped'
import type { Jobs } from '@parley/store/jobs'
import type { Cursor } from '@parley/store/page'
import type { Seal } from '@parley/store/seal'
import type { Wake } from '@parley/store/wake'
import { startJob, startTopic } from '../topics.ts'
import type { NewStartTask, Passed, StartTaskRow, StartTaskStore, TaskFilters, TaskSort } from './store.ts'
import { taskSortColumn } from './store.ts'

/** How far a start has come: the row that the start writes and everybody reads. */

/** What of a row is shown. */
type Shown = NewStartTask & Pick<StartTaskRow, 'detail' | 'sandbox_id' | 'updated_at'>

interface Parts {
  store: StartTaskStore
  jobs: Jobs
  wake: Wake
  clock: Clock
  seal: Seal
  cursor: Cursor
  baseUrl: string
  deadlineMs: number
}

export type StartTasks = ReturnType<typeof startTasks>

export function startTasks({ store, jobs, wake, clock, seal, cursor, baseUrl, deadlineMs }: Parts) {
  /** As it was at its n-th status: what was not known then is not in it. */
  function view(row: Shown, passed: Passed = { ...row.log.at(-1), status: row.status, at: row.updated_at }): StartTask {
    const ready = passed.status === 'READY'
    return {
      id: row.id,
      created_by_user_id: row.owner_id,
      request: row.request,
      status: passed.status,
      detail: passed.status === 'ERROR' ? row.detail : (passed.detail ?? null),
      app_conversation_id: ready ? row.conversation_id : null,
      sandbox_id: ready ? row.sandbox_id : null,
      agent_server_url: ready ? `${baseUrl}/api/v1` : null,
      created_at: row.created_at,
      updated_at: new Date(passed.at).toISOString(),
    }
  }

  /** Starts that are asked for at the same moment are one commit. */
  const stored = grouped((tasks: readonly NewStartTask[]) =>
    store.transaction(async (rows, tx) => {
      const made = await rows.insert(tasks)
      const wanted = [...made].map((key) => ({ kind: startJob, key, input: null }))
      if (wanted.length > 0) await jobs.spawnAll(tx, wanted)
      return tasks.map((task) =>
        made.has(task.id) ? view({ ...task, detail: null, sandbox_id: null, updated_at: task.created_at }) : undefined,
      )
    }),
  )

  return {
    view,

    /**
     * The task and the job that does it, in one transaction; nothing is promised before both are stored. Undefined when
     * another start has this conversation, or this id.
     */
    async open(
      owner: string,
      id: string,
      request: StartRequestEcho & { conversation_id: string },
      secrets: StartRequest['secrets'],
    ): Promise<StartTask | undefined> {
      const now = clock.now()
      const sealed =
        secrets === null ? null : await seal.close(owner, `start_task.sealed.${id}`, JSON.stringify(secrets))
      return stored({
        id,
        owner_id: owner,
        request,
        status: 'WORKING',
        conversation_id: request.conversation_id,
        sealed,
        log: [{ status: 'WORKING', at: now }],
        created_at: now,
        deadline_at: new Date(clock.millis() + deadlineMs).toISOString(),
      })
    },

    /** Every status from the first, in order, each once and again with each new detail, until the start is over. */
    async *follow(id: string, signal: AbortSignal): AsyncGenerator<StartTask> {
      let last: StartTaskRow | undefined
      const read = async (from: number) => {
        last = await store.get(id)
        const rows = last?.log.slice(from) ?? []
        return { rows, cursor: from + rows.length }
      }
      for await (const passed of wake.follow(startTopic(id), read, { cursor: 0, signal, pollMs: 2_000 })) {
        if (last === undefined) return
        yield view(last, passed)
        if (startEnded(passed.status)) return
      }
    },

    async pass(...said: Parameters<StartTaskStore['pass']>): Promise<StartTaskRow | undefined> {
      const row = await store.pass(...said)
      wake.tell(startTopic(said[0]))
      return row
    },

    async many(owner: string, ids: readonly string[]): Promise<(StartTask | null)[]> {
      const rows = new Map((await store.many(owner, ids)).map((row) => [row.id, row]))
      return ids.map((id) => {
        const row = rows.get(id)
        return row === undefined ? null : view(row)
      })
    },

    async search(
      owner: string,
      query: TaskFilters & { sort_order: TaskSort; page_id?: string | undefined; limit: number },
    ) {
      const { page_id, limit, sort_order, ...filters } = query
      const key = `start-tasks ${owner} ${sort_order} ${JSON.stringify(filters)}`
      const at = page_id === undefined ? null : cursor.read(page_id, key)
      const after = at === null ? null : { at: String(at[0]), id: String(at[1]) }
      const rows = await store.page(owner, filters, sort_order, after, limit + 1)
      const items = rows.slice(0, limit)
      const end = rows.length > limit ? items.at(-1) : undefined
      const next = end && cursor.write({ query: key, at: [end[taskSortColumn(sort_order)], end.id] })
      return { items: items.map((row) => view(row)), next_page_id: next ?? null }
    },

    async log(owner: string, id: string): Promise<StartLog> {
      const [row] = await store.many(owner, [id])
      if (row === undefined) throw new Problem('not_found')
      const steps = row.log.map(({ status, at, detail }) => ({
        status,
        at: new Date(at).toISOString(),
        detail: status === 'ERROR' ? row.detail : (detail ?? null),
      }))
      return { status: row.status, steps, output: row.output }
    },

    count: (owner: string, filters: TaskFilters): Promise<number> => store.count(owner, filters),

    async cancel(owner: string, id: string): Promise<StartTask> {
      const [row] = await store.many(owner, [id])
      if (row === undefined) throw new Problem('not_found')
      const passed = [{ status: 'ERROR' as const, at: clock.now() }]
      const ended = await this.pass(id, { passed, detail: 'Start cancelled.' })
      if (ended === undefined)
        throw new Problem('state_conflict', `The start is ${row.status}.`, { members: { current_state: row.status } })
      return view(ended)
    },
  }
}
