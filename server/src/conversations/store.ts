import type { ConversationSortOrder } from '@parley/contract/conversations'
import type { ExecutionStatus } from '@parley/contract/execution'
import type { GitProvider } from '@parley/contract/git-provider'
import type { Failure } from '@parley/contract/metrics'
import type { AgentType, Trigger } from '@parley/contract/start-request'
import { type Database, json } from '@parley/store/database'
import { together } from '@parley/store/together'
import { CompiledQuery, type ExpressionBuilder, sql } from 'kysely'
import type { Usages } from './metrics.ts'

export interface ConversationRow {
  id: string
  owner_id: string
  sandbox_id: string | null
  parent_id: string | null
  forked_from_id: string | null
  title: string
  title_given: boolean
  selected_repository: string | null
  selected_branch: string | null
  git_provider: GitProvider | null
  trigger: Trigger | null
  pr_number: number[]
  llm_model: string | null
  agent_type: AgentType
  public: boolean | null
  tags: Record<string, string>
  working_dir: string
  base_commit: string | null
  config: unknown
  sealed_config: string | null
  created_at: string
  updated_at: string
}

export interface HeadRow {
  conversation_id: string
  last_seq: number
  wanted_seq: number
  run_epoch: number
  execution_status: ExecutionStatus
  status_reason: Failure | null
  metrics: Usages
}

interface Tables {
  conversation: ConversationRow
  conversation_head: HeadRow
  deleted_conversation: { id: string; owner_id: string }
}

/** A conversation, where it stands, and its children from the oldest to the newest. */
export type Whole = Omit<ConversationRow, 'config' | 'sealed_config'> &
  Omit<HeadRow, 'conversation_id' | 'run_epoch'> & { children: string[] }

/** A row to be made from another one. */
export type Forked = Omit<ConversationRow, 'created_at' | 'updated_at'> & { now: string }

export interface Filters {
  title__contains?: string | undefined
  created_at__gte?: string | undefined
  created_at__lt?: string | undefined
  updated_at__gte?: string | undefined
  updated_at__lt?: string | undefined
  sandbox_id__eq?: string | undefined
  selected_repository__eq?: string | undefined
  trigger__eq?: Trigger | undefined
  execution_status__eq?: ExecutionStatus | undefined
  tag__eq?: string | undefined
  include_sub_conversations: boolean
}

const sortColumns = {
  CREATED_AT: ['created_at', 'asc'],
  CREATED_AT_DESC: ['created_at', 'desc'],
  UPDATED_AT: ['updated_at', 'asc'],
  UPDATED_AT_DESC: ['updated_at', 'desc'],
  TITLE: ['title', 'asc'],
  TITLE_DESC: ['title', 'desc'],
} as const satisfies Record<ConversationSortOrder, readonly ['created_at' | 'updated_at' | 'title', 'asc' | 'desc']>

export const sortColumn = (order: ConversationSortOrder) => sortColumns[order][0]

export type ConversationStore = ReturnType<typeof conversationStore>

const columns = [
  'c.id',
  'c.owner_id',
  'c.sandbox_id',
  'c.parent_id',
  'c.forked_from_id',
  'c.title',
  'c.title_given',
  'c.selected_repository',
  'c.selected_branch',
  'c.git_provider',
  'c.trigger',
  'c.pr_number',
  'c.llm_model',
  'c.agent_type',
  'c.public',
  'c.tags',
  'c.working_dir',
  'c.base_commit',
  'c.created_at',
  'c.updated_at',
  'h.last_seq',
  'h.wanted_seq',
  'h.execution_status',
  'h.status_reason',
  'h.metrics',
] as const

/** The most frequent read of all, as text so that it is neither built nor planned anew. */
const getText = `select ${columns.join(', ')},
    array(select k.id from conversation k where k.parent_id = c.id order by k.created_at) as children
  from conversation c join conversation_head h on h.conversation_id = c.id where c.id = any($1::uuid[])`

export function conversationStore(database: Database) {
  const db = database.withTables<Tables>()
  const whole = () =>
    db
      .selectFrom('conversation as c')
      .innerJoin('conversation_head as h', 'h.conversation_id', 'c.id')
      .select([...columns])
      .select(
        sql<string[]>`array(select k.id from conversation k where k.parent_id = c.id order by k.created_at)`.as(
          'children',
        ),
      )

  const byId = together(
    async (ids: readonly string[]) => (await db.executeQuery<Whole>(CompiledQuery.raw(getText, [ids]))).rows,
    (row) => row.id,
  )

  return {
    /** False when the id is taken, by a living conversation or by a deleted one. */
    async insert(row: ConversationRow): Promise<boolean> {
      const gone = await db.selectFrom('deleted_conversation').select('id').where('id', '=', row.id).executeTakeFirst()
      if (gone !== undefined) return false
      const done = await db
        .insertInto('conversation')
        .values({ ...row, tags: json(row.tags), config: json(row.config) })
        .onConflict((on) => on.doNothing())
        .executeTakeFirst()
      if (done.numInsertedOrUpdatedRows !== 1n) return false
      await sql`insert into conversation_head (conversation_id) values (${row.id})`.execute(db)
      return true
    },

    /** A new row with the events of another conversation up to a point. False when the id is taken. */
    async fork({ now, ...row }: Forked, from: string, seq: number): Promise<boolean> {
      return database.transaction(async (tx) => {
        const made = await conversationStore(tx).insert({ ...columnsOf(row), created_at: now, updated_at: now })
        if (!made) return false
        await tx.rows(sql`insert into event (conversation_id, seq, id, kind, source, at, body)
          select ${row.id}, seq, id, kind, source, at, body from event where conversation_id = ${from} and seq <= ${seq}`)
        await tx.rows(
          sql`update conversation_head set last_seq = ${seq}, wanted_seq = ${seq} where conversation_id = ${row.id}`,
        )
        return true
      })
    },

    async get(owner: string, id: string): Promise<Whole | undefined> {
      const row = await byId(id)
      return row?.owner_id === owner ? row : undefined
    },

    /** Whoever owns it: for the workers. */
    forWork: async (id: string): Promise<(ConversationRow & HeadRow) | undefined> =>
      db
        .selectFrom('conversation as c')
        .innerJoin('conversation_head as h', 'h.conversation_id', 'c.id')
        .selectAll()
        .where('c.id', '=', id)
        .executeTakeFirst(),

    head: (id: string): Promise<HeadRow | undefined> =>
      db.selectFrom('conversation_head').selectAll().where('conversation_id', '=', id).executeTakeFirst(),

    many: (owner: string, ids: readonly string[]): Promise<Whole[]> =>
      whole()
        .where('c.id', 'in', [...ids, none])
        .where('c.owner_id', '=', owner)
        .execute(),

    page(
      owner: string,
      filters: Filters,
      order: ConversationSortOrder,
      after: { at: string; id: string } | null,
      limit: number,
    ) {
      const [column, direction] = sortColumns[order]
      let query = whole().where((eb) => matching(eb, owner, filters))
      if (after !== null) {
        const place = column === 'title' ? sql`(c.title, c.id)` : sql`(${sql.ref(`c.${column}`)}, c.id)`
        const value =
          column === 'title'
            ? sql`(${after.at}, ${after.id}::uuid)`
            : sql`(${after.at}::timestamptz, ${after.id}::uuid)`
        query = query.where(direction === 'asc' ? sql<boolean>`${place} > ${value}` : sql<boolean>`${place} < ${value}`)
      }
      return query.orderBy(`c.${column}`, direction).orderBy('c.id', direction).limit(limit).execute()
    },

    async count(owner: string, filters: Filters): Promise<number> {
      const row = await db
        .selectFrom('conversation as c')
        .innerJoin('conversation_head as h', 'h.conversation_id', 'c.id')
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .where((eb) => matching(eb, owner, filters))
        .executeTakeFirstOrThrow()
      return Number(row.n)
    },

    async update(
      id: string,
      change: Partial<
        Pick<
          ConversationRow,
          | 'title'
          | 'title_given'
          | 'public'
          | 'selected_repository'
          | 'selected_branch'
          | 'git_provider'
          | 'tags'
          | 'base_commit'
        >
      >,
    ): Promise<void> {
      await db
        .updateTable('conversation')
        .set({
          ...change,
          ...(change.tags === undefined ? {} : { tags: json(change.tags) }),
          updated_at: sql<string>`now()`,
        })
        .where('id', '=', id)
        .execute()
    },

    async moved(id: string): Promise<void> {
      await sql`update conversation set updated_at = now() where id = ${id}`.execute(db)
    },

    /** It, its descendants and all that hangs on them, in one statement; the ids stay taken. Answers what they used. */
    async delete(owner: string, id: string): Promise<{ id: string; sandbox_id: string | null }[]> {
      return database.transaction(async (tx) => {
        const gone = await tx.rows(sql<{ id: string; sandbox_id: string | null }>`
          with recursive tree as (
            select id, sandbox_id from conversation where id = ${id} and owner_id = ${owner}
            union all
            select c.id, c.sandbox_id from conversation c join tree on c.parent_id = tree.id)
          select id, sandbox_id from tree`)
        const ids = gone.map((row) => row.id)
        // Heads before conversations, as every append does: else the two could wait for each other.
        await tx.rows(sql`select 1 from conversation_head where conversation_id = any(${ids}::uuid[])
          order by conversation_id for update`)
        await tx.rows(sql`insert into deleted_conversation (id, owner_id)
          select unnest(${ids}::uuid[]), ${owner} on conflict do nothing`)
        await tx.rows(sql`delete from start_task where conversation_id = any(${ids}::uuid[])`)
        await tx.rows(sql`delete from conversation where id = any(${ids}::uuid[])`)
        return gone
      })
    },

    /** Sandboxes of these that no conversation names any more. */
    async unused(sandboxes: readonly string[]): Promise<string[]> {
      const used = await db
        .selectFrom('conversation')
        .select('sandbox_id')
        .where('sandbox_id', 'in', [...sandboxes, none])
        .execute()
      const still = new Set(used.map((row) => row.sandbox_id))
      return sandboxes.filter((id) => !still.has(id))
    },

    /** Those that work in a sandbox; when none does, the one that was last at work. */
    async atWorkIn(sandbox: string): Promise<{ id: string; sandbox_id: string | null }[]> {
      const rows = await database.rows(sql<{ id: string; sandbox_id: string | null; running: boolean }>`
        select c.id, c.sandbox_id, h.execution_status = 'running' as running
        from conversation c join conversation_head h on h.conversation_id = c.id
        where c.sandbox_id = ${sandbox} order by running desc, c.updated_at desc limit 20`)
      return rows.filter((row, at) => at === 0 || row.running)
    },

    /** How many conversations each of these sandboxes holds. */
    async perSandbox(owner: string): Promise<Map<string, number>> {
      const rows = await database.rows(sql<{ sandbox_id: string; n: number }>`
        select sandbox_id, count(*)::int as n from conversation
        where owner_id = ${owner} and sandbox_id is not null group by sandbox_id`)
      return new Map(rows.map((row) => [row.sandbox_id, row.n]))
    },

    /** Which state a conversation has that `id` names, whoever owns it. */
    async taken(id: string): Promise<'free' | 'living' | 'deleted'> {
      const rows = await database.rows(sql<{ living: boolean; deleted: boolean }>`
        select exists (select 1 from conversation where id = ${id}) as living,
               exists (select 1 from deleted_conversation where id = ${id}) as deleted`)
      if (rows[0]?.living === true) return 'living'
      return rows[0]?.deleted === true ? 'deleted' : 'free'
    },
  }
}

const none = '00000000-0000-0000-0000-000000000000'

type Both = ExpressionBuilder<{ c: ConversationRow; h: HeadRow }, 'c' | 'h'>

/** With the label: the key alone, or `key:value`. */
function labelled(tag: string) {
  const at = tag.indexOf(':')
  if (at < 0) return sql<boolean>`jsonb_exists(c.tags, ${tag})`
  return sql<boolean>`c.tags @> ${JSON.stringify({ [tag.slice(0, at)]: tag.slice(at + 1) })}::jsonb`
}

function matching(eb: Both, owner: string, filters: Filters) {
  const like = (filters.title__contains || undefined)?.replace(/[\\%_]/g, (sign) => `\\${sign}`)
  return eb.and([
    eb('c.owner_id', '=', owner),
    ...(filters.include_sub_conversations ? [] : [eb('c.parent_id', 'is', null)]),
    ...(like === undefined ? [] : [eb('c.title', 'ilike', `%${like}%`)]),
    ...(filters.created_at__gte === undefined ? [] : [eb('c.created_at', '>=', filters.created_at__gte)]),
    ...(filters.created_at__lt === undefined ? [] : [eb('c.created_at', '<', filters.created_at__lt)]),
    ...(filters.updated_at__gte === undefined ? [] : [eb('c.updated_at', '>=', filters.updated_at__gte)]),
    ...(filters.updated_at__lt === undefined ? [] : [eb('c.updated_at', '<', filters.updated_at__lt)]),
    ...(filters.sandbox_id__eq === undefined ? [] : [eb('c.sandbox_id', '=', filters.sandbox_id__eq)]),
    ...(filters.selected_repository__eq === undefined
      ? []
      : [eb('c.selected_repository', '=', filters.selected_repository__eq)]),
    ...(filters.tag__eq === undefined ? [] : [labelled(filters.tag__eq)]),
    ...(filters.trigger__eq === undefined ? [] : [eb('c.trigger', '=', filters.trigger__eq)]),
    ...(filters.execution_status__eq === undefined
      ? []
      : [eb('h.execution_status', '=', filters.execution_status__eq)]),
  ])
}

/** A row's own columns, whatever else the object has. */
function columnsOf(row: Omit<ConversationRow, 'created_at' | 'updated_at'>) {
  return {
    id: row.id,
    owner_id: row.owner_id,
    sandbox_id: row.sandbox_id,
    parent_id: row.parent_id,
    forked_from_id: row.forked_from_id,
    title: row.title,
    title_given: row.title_given,
    selected_repository: row.selected_repository,
    selected_branch: row.selected_branch,
    git_provider: row.git_provider,
    trigger: row.trigger,
    pr_number: row.pr_number,
    llm_model: row.llm_model,
    agent_type: row.agent_type,
    public: row.public,
    tags: row.tags,
    working_dir: row.working_dir,
    base_commit: row.base_commit,
    config: row.config,
    sealed_config: row.sealed_config,
  }
}
