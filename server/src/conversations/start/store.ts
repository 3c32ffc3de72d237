import type { StartRequestEcho } from '@parley/contract/start-request'
import { startOutputKept, type StartTaskStatus } from '@parley/contract/start-tasks'
import { type Database, json } from '@parley/store/database'
import { type Transactional, transactional } from '@parley/store/transactional'
import { type Expression, type SqlBool, sql } from 'kysely'

/** A status the task has had, in order. A row has one for each, so that a reader who comes late misses none. */
export interface Passed {
  status: StartTaskStatus
  at: string
  /** What it was about, where it took long. */
  detail?: string
}

/** Something to be told in the conversation once there is one. */
export interface StartNotice {
  code: string
  detail: string
  level: 'info' | 'warning'
}

/** What is added to a task. */
export interface TaskChange {
  /** The statuses it went on to, or something more about the one it is in, in order. */
  passed?: readonly Passed[]
  detail?: string
  sandbox_id?: string
  made_sandbox?: boolean
  notices?: readonly StartNotice[]
}

export interface StartTaskRow {
  id: string
  owner_id: string
  request: StartRequestEcho
  status: StartTaskStatus
  detail: string | null
  conversation_id: string
  sandbox_id: string | null
  made_sandbox: boolean
  sealed: string | null
  log: Passed[]
  /** What the step `output_of` has printed last. */
  output: string
  output_of: StartTaskStatus | null
  notices: StartNotice[]
  created_at: string
  updated_at: string
  deadline_at: string
}

/** What a task is made with. */
export type NewStartTask = Pick<
  StartTaskRow,
  'id' | 'owner_id' | 'request' | 'status' | 'conversation_id' | 'sealed' | 'log' | 'created_at' | 'deadline_at'
>

interface Tables {
  start_task: StartTaskRow
  pending_message: { id: string; owner_id: string; start_task_id: string; content: unknown; position: number }
}

export interface TaskFilters {
  conversation_id__eq?: string | undefined
  created_at__gte?: string | undefined
  created_at__lt?: string | undefined
  status__eq?: StartTaskStatus | undefined
}

const sorts = {
  CREATED_AT: ['created_at', 'asc'],
  CREATED_AT_DESC: ['created_at', 'desc'],
  UPDATED_AT: ['updated_at', 'asc'],
  UPDATED_AT_DESC: ['updated_at', 'desc'],
} as const
export type TaskSort = keyof typeof sorts
export const taskSortColumn = (sort: TaskSort) => sorts[sort][0]

type Rows = ReturnType<typeof startTaskRows>
export type StartTaskStore = Transactional<Rows>

export const startTaskStore = (database: Database): StartTaskStore => transactional(database, startTaskRows)

function startTaskRows(database: Database) {
  const db = database.withTables<Tables>()
  const matching = (owner: string, filters: TaskFilters): Expression<SqlBool> => sql`owner_id = ${owner}
    and (${filters.conversation_id__eq ?? null}::uuid is null or conversation_id = ${filters.conversation_id__eq ?? null})
    and (${filters.status__eq ?? null}::text is null or status = ${filters.status__eq ?? null})
    and (${filters.created_at__gte ?? null}::timestamptz is null or created_at >= ${filters.created_at__gte ?? null})
    and (${filters.created_at__lt ?? null}::timestamptz is null or created_at < ${filters.created_at__lt ?? null})`

  return {
    /** The ids of those that are in: a start whose conversation another one is to make, or has made, is not. */
    async insert(tasks: readonly NewStartTask[]): Promise<Set<string>> {
      const rows = await database.rows(sql<{ id: string }>`
        insert into start_task (id, owner_id, request, status, conversation_id, sealed, log, created_at, updated_at, deadline_at)
        select id, owner_id, request, status, conversation_id, sealed, log, created_at, created_at, deadline_at
        from jsonb_to_recordset(${json(tasks)}) as new (
          id uuid, owner_id uuid, request jsonb, status text, conversation_id uuid, sealed text, log jsonb,
          created_at timestamptz, deadline_at timestamptz)
        on conflict do nothing
        returning id`)
      return new Set(rows.map(({ id }) => id))
    },

    get: (id: string): Promise<StartTaskRow | undefined> =>
      db.selectFrom('start_task').selectAll().where('id', '=', id).executeTakeFirst(),

    many: (owner: string, ids: readonly string[]): Promise<StartTaskRow[]> =>
      db
        .selectFrom('start_task')
        .selectAll()
        .where('owner_id', '=', owner)
        .where('id', 'in', [...ids, none])
        .execute(),

    /** The newest task that is to make, or made, this conversation. */
    ofConversation: (conversation: string): Promise<StartTaskRow | undefined> =>
      db
        .selectFrom('start_task')
        .selectAll()
        .where('conversation_id', '=', conversation)
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirst(),

    /** Adds to a task unless it has ended. */
    async pass(id: string, change: TaskChange): Promise<StartTaskRow | undefined> {
      const { passed = [], notices = [], detail = null, sandbox_id = null, made_sandbox = null } = change
      const last = passed.at(-1)
      // The log and the row say the same.
      const rows = await database.rows(sql<StartTaskRow>`
        update start_task set
          log = log || ${JSON.stringify(passed)}::jsonb,
          status = coalesce(${last?.status ?? null}, status),
          detail = coalesce(${detail}, detail),
          sandbox_id = coalesce(${sandbox_id}::uuid, sandbox_id),
          made_sandbox = coalesce(${made_sandbox}::bool, made_sandbox),
          notices = notices || ${JSON.stringify(notices)}::jsonb,
          output = case when ${last?.status ?? null} = 'READY' then '' else output end,
          updated_at = coalesce(${last?.at ?? null}::timestamptz, updated_at)
        where id = ${id} and status not in ('READY', 'ERROR') returning *`)
      return rows[0]
    },

    /** Something more that this step has printed; the end of it is kept. */
    async hear(id: string, status: StartTaskStatus, text: string): Promise<void> {
      await sql`update start_task set output_of = ${status},
        output = right(case when output_of = ${status} then output else '' end || ${text}, ${startOutputKept})
        where id = ${id} and status = ${status}`.execute(db)
    },

    async page(
      owner: string,
      filters: TaskFilters,
      sort: TaskSort,
      after: { at: string; id: string } | null,
      limit: number,
    ) {
      const [column, direction] = sorts[sort]
      let query = db.selectFrom('start_task').selectAll().where(matching(owner, filters))
      if (after !== null) {
        const [place, value] = [sql`(${sql.ref(column)}, id)`, sql`(${after.at}::timestamptz, ${after.id}::uuid)`]
        query = query.where(direction === 'asc' ? sql<boolean>`${place} > ${value}` : sql<boolean>`${place} < ${value}`)
      }
      return query.orderBy(column, direction).orderBy('id', direction).limit(limit).execute()
    },

    async count(owner: string, filters: TaskFilters): Promise<number> {
      const rows = await database.rows(
        sql<{ n: number }>`select count(*)::int as n from start_task where ${matching(owner, filters)}`,
      )
      return rows[0]?.n ?? 0
    },

    /** Its position, from 1; or why it cannot wait. The row's lock keeps the start from ending in between. */
    async queue(
      task: string,
      owner: string,
      id: string,
      content: unknown,
      most: number,
    ): Promise<number | 'full' | 'ended'> {
      return database.transaction(async (tx) => {
        const going = await tx.rows(sql`select 1 from start_task
          where id = ${task} and status not in ('READY', 'ERROR') for update`)
        if (going.length === 0) return 'ended'
        const [known] = await tx.rows(sql<{ position: number }>`select position from pending_message where id = ${id}`)
        if (known !== undefined) return known.position
        const rows = await tx.rows(sql<{ position: number }>`
          insert into pending_message (id, owner_id, start_task_id, content, position)
          select ${id}, ${owner}, ${task}, ${JSON.stringify(content)}::jsonb, coalesce(max(position), 0) + 1
          from pending_message where start_task_id = ${task} having count(*) < ${most} returning position`)
        return rows[0]?.position ?? 'full'
      })
    },

    queued: (task: string): Promise<{ id: string; content: unknown }[]> =>
      db
        .selectFrom('pending_message')
        .select(['id', 'content'])
        .where('start_task_id', '=', task)
        .orderBy('position')
        .execute(),

    async dequeue(task: string): Promise<void> {
      await db.deleteFrom('pending_message').where('start_task_id', '=', task).execute()
    },

    /** Ended in ERROR so long ago that nobody asks any more. */
    async forget(days: number): Promise<void> {
      await sql`delete from start_task where status = 'ERROR' and updated_at < now() - make_interval(days => ${days})`.execute(
        db,
      )
    },
  }
}

const none = '00000000-0000-0000-0000-000000000000'
