import type { Metrics } from '@parley/contract/metrics'
import type { Processor } from '@parley/contract/processors'
import { type Database, json } from '@parley/store/database'
import { type Transactional, transactional } from '@parley/store/transactional'
import { sql } from 'kysely'

export type CallbackStatus = 'ACTIVE' | 'DISABLED' | 'COMPLETED' | 'ERROR'

export interface CallbackRow {
  id: string
  conversation_id: string
  processor: Processor
  event_kind: string
  status: CallbackStatus
  claimed_event_id: string | null
  unbilled: Metrics | null
}

export interface ResultRow {
  id: string
  event_callback_id: string
  event_id: string
  status: 'SUCCESS' | 'ERROR'
  detail: string | null
}

export interface Reader {
  seq: number
  adopted: boolean
}

type Rows = ReturnType<typeof processorRows>
export type ProcessorStore = Transactional<Rows>

export const processorStore = (database: Database): ProcessorStore => transactional(database, processorRows)

function processorRows(database: Database) {
  const db = database.withTables<{ event_callback: CallbackRow }>()
  return {
    /** Of these conversations, those whose processors have something to read; null: of all. */
    async behind(conversations: readonly string[] | null, limit: number): Promise<string[]> {
      const rows = await database.rows(sql<{ id: string }>`
        select r.conversation_id as id from log_reader r
        join conversation_head h using (conversation_id)
        where r.active and h.last_seq > r.seq
          and (${conversations === null} or r.conversation_id = any(${conversations ?? []}::uuid[]))
        limit ${limit}`)
      return rows.map((row) => row.id)
    },

    async reader(conversation: string): Promise<Reader | undefined> {
      const rows = await database.rows(sql<Reader>`
        select seq, adopted from log_reader where conversation_id = ${conversation} and active`)
      return rows[0]
    },

    /** False when another reader did it first. */
    async adopt(
      conversation: string,
      callbacks: readonly Pick<CallbackRow, 'id' | 'processor' | 'event_kind'>[],
    ): Promise<boolean> {
      const first = await database.rows(sql`update log_reader set adopted = true
        where conversation_id = ${conversation} and not adopted returning 1`)
      if (first.length === 0) return false
      for (const one of callbacks)
        await database.rows(sql`insert into event_callback (id, conversation_id, processor, event_kind)
          values (${one.id}, ${conversation}, ${json(one.processor)}, ${one.event_kind})`)
      return true
    },

    /** For a conversation that no start has made. */
    async begin(conversation: string): Promise<void> {
      await database.rows(sql`insert into log_reader (conversation_id, active) values (${conversation}, true)
        on conflict do nothing`)
    },

    callbacks: (conversation: string): Promise<CallbackRow[]> =>
      db
        .selectFrom('event_callback')
        .select(['id', 'conversation_id', 'processor', 'event_kind', 'status', 'claimed_event_id', 'unbilled'])
        .where('conversation_id', '=', conversation)
        .orderBy('id')
        .execute(),

    /** Whether this event has had its outcome for this callback. */
    async isDone(callback: string, event: string): Promise<boolean> {
      const rows = await database.rows(sql`select 1 from event_callback_result
        where event_callback_id = ${callback} and event_id = ${event}`)
      return rows.length > 0
    },

    /** False when somebody has begun this already: it must not be begun again. */
    async claim(callback: string, event: string): Promise<boolean> {
      const rows = await database.rows(sql`
        update event_callback set claimed_event_id = ${event}, updated_at = now()
        where id = ${callback} and status = 'ACTIVE' and claimed_event_id is distinct from ${event}::uuid returning 1`)
      return rows.length > 0
    },

    /** The first outcome counts, and none of a deleted conversation. `status` only moves a callback that is still ACTIVE. */
    async settle(conversation: string, row: ResultRow, status: CallbackStatus, used: Metrics | null): Promise<boolean> {
      const first = await database.rows(sql`
        insert into event_callback_result (id, event_callback_id, conversation_id, event_id, status, detail)
        select ${row.id}::uuid, ${row.event_callback_id}::uuid, id, ${row.event_id}::uuid, ${row.status}, ${row.detail}
        from conversation where id = ${conversation} for key share
        on conflict do nothing returning 1`)
      if (first.length === 0) return false
      await database.rows(sql`
        update event_callback set status = ${status}, updated_at = now(),
          unbilled = coalesce(${used === null ? null : JSON.stringify(used)}::jsonb, unbilled)
        where id = ${row.event_callback_id} and status = 'ACTIVE'`)
      return true
    },

    async advance(conversation: string, seq: number): Promise<void> {
      await database.rows(sql`update log_reader set seq = ${seq}
        where conversation_id = ${conversation} and seq < ${seq}`)
    },

    /** True when there is nothing to read; then the reader sleeps for good when no callback needs it any more. */
    async rest(conversation: string): Promise<boolean> {
      const rows = await database.rows(sql`
        update log_reader r set active = exists (
          select from event_callback c where c.conversation_id = r.conversation_id
            and (c.status = 'ACTIVE' or c.unbilled is not null))
        from conversation_head h
        where r.conversation_id = ${conversation} and h.conversation_id = r.conversation_id and h.last_seq <= r.seq
        returning 1`)
      return rows.length > 0
    },

    /** What callbacks have used and nobody has counted; it is taken by this. */
    async takeUnbilled(conversation: string): Promise<Metrics[]> {
      const used = await database.rows(sql<{ unbilled: Metrics }>`
        update event_callback c set unbilled = null from event_callback o
        where c.conversation_id = ${conversation} and c.unbilled is not null and o.id = c.id returning o.unbilled`)
      return used.map(({ unbilled }) => unbilled)
    },

    results: (conversation: string): Promise<(ResultRow & { kind: string; callback_status: CallbackStatus })[]> =>
      database.rows(sql<ResultRow & { kind: string; callback_status: CallbackStatus }>`
        select r.id, r.event_callback_id, r.event_id, r.status, r.detail, c.processor ->> 'kind' as kind,
          c.status as callback_status
        from event_callback_result r join event_callback c on c.id = r.event_callback_id
        where r.conversation_id = ${conversation} order by r.created_at, r.id`),
  }
}
