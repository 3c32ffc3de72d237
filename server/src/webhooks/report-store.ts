import type { Database } from '@parley/store/database'
import { type Transactional, transactional } from '@parley/store/transactional'
import { sql } from 'kysely'

/** What reports have left behind about a conversation. */
export interface ReportRow {
  /** True when a report made it; false when Parley runs it itself. */
  made: boolean
  /** When the status was as it is, by the reporter's clock. */
  status_at: string | null
}

type Rows = ReturnType<typeof reportRows>
export type ReportStore = Transactional<Rows>

export const reportStore = (database: Database): ReportStore => transactional(database, reportRows)

function reportRows(database: Database) {
  return {
    async find(conversation: string): Promise<ReportRow> {
      const rows = await database.rows(sql<ReportRow>`
        select made, status_at from conversation_report where conversation_id = ${conversation}`)
      return rows[0] ?? { made: false, status_at: null }
    },

    /** Of these conversations, how many a report made. */
    async countMade(conversations: readonly string[]): Promise<number> {
      const rows = await database.rows(sql<{ n: number }>`
        select count(*)::int as n from conversation_report
        where made and conversation_id = any(${conversations}::uuid[])`)
      return rows[0]?.n ?? 0
    },

    async made(conversation: string): Promise<void> {
      await database.rows(sql`insert into conversation_report (conversation_id, made) values (${conversation}, true)`)
    },

    async statusAt(conversation: string, at: string): Promise<void> {
      await database.rows(sql`insert into conversation_report (conversation_id, made, status_at)
        values (${conversation}, false, ${at})
        on conflict (conversation_id) do update set status_at = excluded.status_at`)
    },
  }
}
