import type { LlmConfig } from '@parley/agent/model/config'
import type { GitProvider } from '@parley/contract/git-provider'
import type { Metrics } from '@parley/contract/metrics'
import type { Processor } from '@parley/contract/processors'
import { type Database, json } from '@parley/store/database'
import { type Transactional, transactional } from '@parley/store/transactional'
import { sql } from 'kysely'
import type { EventRow } from '../conversations/service.ts'

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

/** What processors need to know of a conversation. */
export interface Subject {
  id: string
  owner_id: string
  title: string
  title_given: boolean
  selected_repository: string | null
  git_provider: GitProvider | null
  pr_number: number[]
  config: { llm?: Omit<LlmConfig, 'api_key'>; max_budget_per_task?: number | null }
  sealed_config: string | null
  metrics: Record<string, Metrics>
}

export interface Reader {
  seq: number
  adopted: boolean
}

type Rows = ReturnType<typeof processorRows>
export type ProcessorStore = Transactional<Rows>

export const processorStore = (database: Database): ProcessorStore => transactional(database, processorRows)

function processorRows(database: Database) {
  const db = database.withTables<{
    event_callback: CallbackRow
    event: EventRow & { conversation_id: string }
  }>()
  const eventColumns = ['seq', 'id', 'kind', 'source', 'at', 'body'] as const

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

    /** What the start request asked for. */
    async asked(conversation: string): Promise<Processor[]> {
      const rows = await database.rows(sql<{ processors: Processor[] | null }>`
        select request -> 'processors' as processors from start_task
        where conversation_id = ${conversation} and status = 'READY' limit 1`)
      return rows[0]?.processors ?? []
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

    after: (conversation: string, seq: number, limit: number): Promise<EventRow[]> =>
      db
        .selectFrom('event')
        .select([...eventColumns])
        .where('conversation_id', '=', conversation)
        .where('seq', '>', seq)
        .orderBy('seq')
        .limit(limit)
        .execute(),

    /** Newest first, up to and with `seq`: what the agent has said and done. */
    lastOfAgent: (conversation: string, seq: number, limit: number): Promise<EventRow[]> =>
      db
        .selectFrom('event')
        .select([...eventColumns])
        .where('conversation_id', '=', conversation)
        .where('seq', '<=', seq)
        .where('source', '=', 'agent')
        .where('kind', 'in', ['MessageEvent', 'ActionEvent'])
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute(),

    async subject(conversation: string): Promise<Subject | undefined> {
      const rows = await database.rows(sql<Subject>`
        select c.id, c.owner_id, c.title, c.title_given, c.selected_repository, c.git_provider, c.pr_number, c.config,
          c.sealed_config, h.metrics
        from conversation c join conversation_head h on h.conversation_id = c.id where c.id = ${conversation}`)
      return rows[0]
    },

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

    /** The first outcome counts. `status` only moves a callback that is still ACTIVE. */
    async settle(conversation: string, row: ResultRow, status: CallbackStatus, used: Metrics | null): Promise<boolean> {
      const first = await database.rows(sql`
        insert into event_callback_result (id, event_callback_id, conversation_id, event_id, status, detail)
        values (${row.id}, ${row.event_callback_id}, ${conversation}, ${row.event_id}, ${row.status}, ${row.detail})
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

    /** Only when nobody has given it another one meanwhile. */
    async title(conversation: string, before: string, title: string): Promise<boolean> {
      const rows = await database.rows(sql`update conversation set title = ${title}, updated_at = now()
        where id = ${conversation} and not title_given and title = ${before} returning 1`)
      return rows.length > 0
    },

    /**
     * Counts what callbacks have used, under the usage id `title`. A run holds the sum of a conversation in its memory and
     * writes it whole, so it waits until none is under way: false when it has to.
     */
    async bill(conversation: string): Promise<boolean> {
      return database.transaction(async (tx) => {
        await tx.rows(sql`select 1 from conversation_head where conversation_id = ${conversation} for update`)
        const runs = await tx.rows(sql`select 1 from job where kind = 'run-conversation' and key = ${conversation}`)
        if (runs.length > 0) return false
        const used = await tx.rows(sql<{ unbilled: Metrics }>`
          update event_callback c set unbilled = null from event_callback o
          where c.conversation_id = ${conversation} and c.unbilled is not null and o.id = c.id returning o.unbilled`)
        for (const { unbilled } of used)
          await tx.rows(sql`update conversation_head set
            metrics = metrics || jsonb_build_object('title', ${JSON.stringify(unbilled)}::jsonb)
            where conversation_id = ${conversation}`)
        return true
      })
    },

    results: (conversation: string): Promise<(ResultRow & { kind: string; callback_status: CallbackStatus })[]> =>
      database.rows(sql<ResultRow & { kind: string; callback_status: CallbackStatus }>`
        select r.id, r.event_callback_id, r.event_id, r.status, r.detail, c.processor ->> 'kind' as kind,
          c.status as callback_status
        from event_callback_result r join event_callback c on c.id = r.event_callback_id
        where r.conversation_id = ${conversation} order by r.created_at, r.id`),
  }
}
