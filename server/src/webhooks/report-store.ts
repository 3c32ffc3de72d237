import type { ExecutionStatus } from '@parley/contract/execution'
import type { Metrics } from '@parley/contract/metrics'
import type { Trigger } from '@parley/contract/start-request'
import { type Database, json } from '@parley/store/database'
import { type Transactional, transactional } from '@parley/store/transactional'
import { sql } from 'kysely'

/** A conversation as a report finds it, with its head locked. */
export interface Reported {
  id: string
  owner_id: string
  sandbox_id: string | null
  tags: Record<string, string>
  trigger: Trigger | null
  metrics: Record<string, Metrics>
  execution_status: ExecutionStatus
  /** True when a report made it; false when Parley runs it itself. */
  made: boolean
  /** When the status was as it is, by the reporter's clock. */
  status_at: string | null
  /** A run of Parley's own is under way, and has the last word on status and metrics. */
  is_running: boolean
}

type Rows = ReturnType<typeof reportRows>
export type ReportStore = Transactional<Rows>

export const reportStore = (database: Database): ReportStore => transactional(database, reportRows)

function reportRows(database: Database) {
  return {
    /** The head is locked first, and what is read after that is what others have committed. */
    async lock(conversation: string): Promise<Reported | undefined> {
      await database.rows(sql`select 1 from conversation_head where conversation_id = ${conversation} for update`)
      const rows = await database.rows(sql<Reported>`
        select c.id, c.owner_id, c.sandbox_id, c.tags, c.trigger, h.metrics, h.execution_status,
          coalesce(r.made, false) as made, r.status_at,
          exists (select from job where kind = 'run-conversation' and key = ${conversation}) as is_running
        from conversation c join conversation_head h on h.conversation_id = c.id
        left join conversation_report r on r.conversation_id = c.id
        where c.id = ${conversation}`)
      return rows[0]
    },

    /** Whose a deleted conversation was, or one that is being started. */
    async used(conversation: string): Promise<{ owner_id: string; how: 'deleted' | 'starting' } | undefined> {
      const rows = await database.rows(sql<{ owner_id: string; how: 'deleted' | 'starting' }>`
        select owner_id, 'deleted' as how from deleted_conversation where id = ${conversation}
        union all
        select owner_id, 'starting' from start_task where conversation_id = ${conversation} and status <> 'ERROR'
        limit 1`)
      return rows[0]
    },

    async made(conversation: string): Promise<void> {
      await database.rows(sql`insert into conversation_report (conversation_id, made) values (${conversation}, true)`)
    },

    async update(
      conversation: string,
      change: {
        tags: Record<string, string>
        trigger: Trigger | null
        model: string | null
        workingDir: string | null
      },
    ): Promise<void> {
      await database.rows(sql`update conversation set tags = ${json(change.tags)}, trigger = ${change.trigger},
        llm_model = coalesce(${change.model}, llm_model), working_dir = coalesce(${change.workingDir}, working_dir),
        updated_at = now() where id = ${conversation}`)
    },

    async head(
      conversation: string,
      change: { status: ExecutionStatus | null; statusAt: string | null; metrics: Record<string, Metrics> | null },
    ): Promise<void> {
      const metrics = change.metrics === null ? null : JSON.stringify(change.metrics)
      await database.rows(sql`update conversation_head set
        execution_status = coalesce(${change.status}, execution_status),
        status_reason = case when ${change.status}::text is null then status_reason end,
        metrics = coalesce(${metrics}::jsonb, metrics) where conversation_id = ${conversation}`)
      if (change.statusAt === null) return
      await database.rows(sql`insert into conversation_report (conversation_id, made, status_at)
        values (${conversation}, false, ${change.statusAt})
        on conflict (conversation_id) do update set status_at = excluded.status_at`)
    },

    async moved(conversation: string): Promise<void> {
      await database.rows(sql`update conversation set updated_at = now() where id = ${conversation}`)
    },

    /** Of these events, those that are stored already. */
    async known(conversation: string, ids: readonly string[]): Promise<Set<string>> {
      const rows = await database.rows(sql<{ id: string }>`
        select id from event where conversation_id = ${conversation} and id = any(${ids}::uuid[])`)
      return new Set(rows.map((row) => row.id))
    },

    /** Whether Parley works in this sandbox itself. */
    async isOurs(sandbox: string): Promise<boolean> {
      const rows = await database.rows(sql`
        select 1 from conversation c left join conversation_report r on r.conversation_id = c.id
        where c.sandbox_id = ${sandbox} and not coalesce(r.made, false)
        union all select 1 from start_task where sandbox_id = ${sandbox} and status not in ('READY', 'ERROR') limit 1`)
      return rows.length > 0
    },
  }
}
