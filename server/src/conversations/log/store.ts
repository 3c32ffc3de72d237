import type { EventKind, EventSource } from '@parley/contract/events'
import type { Database } from '@parley/store/database'
import { sql } from 'kysely'

/** One event as it is kept. `body` is the JSON text of its own fields, without the ones that have a column. */
export interface EventRow {
  seq: number
  id: string
  kind: EventKind
  source: EventSource
  at: string
  body: string
}

export type NewEventRow = Omit<EventRow, 'seq'>

/** What a worker may write with its events: all of it or nothing, and only while its epoch is the newest. */
export interface HeadChange {
  executionStatus?: string
  statusReason?: unknown
  metrics?: unknown
}

export type LogStore = ReturnType<typeof logStore>

export function logStore(database: Database) {
  const db = database.withTables<{ event: EventRow & { conversation_id: string } }>()

  /** The events' columns, one array each, so that a batch of any size is one prepared statement. */
  const columns = (events: readonly NewEventRow[]) => sql`unnest(
      ${events.map((event) => event.id)}::uuid[], ${events.map((event) => event.kind)}::text[],
      ${events.map((event) => event.source)}::text[], ${events.map((event) => event.at)}::timestamptz[],
      ${events.map((event) => event.body)}::text[]) with ordinality as e (id, kind, source, at, body, n)`

  return {
    /** The seq before the first of these events, or undefined when another worker has taken over. */
    async appendFenced(
      conversation: string,
      epoch: number,
      events: readonly NewEventRow[],
      change: HeadChange = {},
    ): Promise<number | undefined> {
      const status = change.executionStatus ?? null
      const done = await sql<{ base: number }>`
        with head as (
          update conversation_head set
            last_seq = last_seq + ${events.length},
            execution_status = coalesce(${status}, execution_status),
            status_reason = case when ${status}::text is null then status_reason else ${json(change.statusReason)}::jsonb end,
            metrics = coalesce(${json(change.metrics)}::jsonb, metrics)
          where conversation_id = ${conversation} and run_epoch = ${epoch}
          returning last_seq - ${events.length} as base),
        added as (
          insert into event (conversation_id, seq, id, kind, source, at, body)
          select ${conversation}, head.base + e.n, e.id, e.kind, e.source, e.at, e.body from head, ${columns(events)})
        select base from head`.execute(db)
      return done.rows[0]?.base
    },

    /**
     * From outside the run. `wants` asks for a run; `revives` are the statuses that become idle by it. Undefined when
     * there is no such conversation. An id that is there already is left as it is and its seq answered.
     */
    async append(
      conversation: string,
      events: readonly NewEventRow[],
      { wants, revives }: { wants: boolean; revives: readonly string[] },
    ): Promise<number | undefined> {
      const done = await sql<{ base: number }>`
        with head as (
          update conversation_head set
            last_seq = last_seq + ${events.length},
            wanted_seq = case when ${wants}::bool then last_seq + ${events.length} else wanted_seq end,
            status_reason = case when execution_status = any(${revives}::text[]) then null else status_reason end,
            execution_status = case when execution_status = any(${revives}::text[]) then 'idle' else execution_status end
          where conversation_id = ${conversation}
          returning last_seq - ${events.length} as base),
        added as (
          insert into event (conversation_id, seq, id, kind, source, at, body)
          select ${conversation}, head.base + e.n, e.id, e.kind, e.source, e.at, e.body from head, ${columns(events)})
        select base from head`.execute(db)
      return done.rows[0]?.base
    },

    /** Sets the status of a conversation that no run is at work on. */
    async rest(conversation: string, status: string): Promise<void> {
      await sql`update conversation_head set execution_status = ${status}, status_reason = null
        where conversation_id = ${conversation} and execution_status <> 'running'`.execute(db)
    },

    /** Takes the pen: from now on only appends with this epoch are accepted. False when a newer worker has it. */
    async take(conversation: string, epoch: number): Promise<boolean> {
      const done = await sql`
        update conversation_head set run_epoch = ${epoch}
        where conversation_id = ${conversation} and run_epoch <= ${epoch}`.execute(db)
      return done.numAffectedRows === 1n
    },

    /** Ends a run unless somebody has asked for more meanwhile. Holds the head's row until the transaction ends. */
    async settle(conversation: string, epoch: number, seenSeq: number): Promise<'settled' | 'wanted' | 'fenced'> {
      const head = await sql<{ run_epoch: number; wanted_seq: number }>`
        select run_epoch, wanted_seq from conversation_head where conversation_id = ${conversation} for update`.execute(db)
      const row = head.rows[0]
      if (row === undefined || row.run_epoch !== epoch) return 'fenced'
      return row.wanted_seq > seenSeq ? 'wanted' : 'settled'
    },

    /** After `seq`, oldest first. */
    after: (conversation: string, seq: number, limit: number): Promise<EventRow[]> =>
      db
        .selectFrom('event')
        .select(['seq', 'id', 'kind', 'source', 'at', 'body'])
        .where('conversation_id', '=', conversation)
        .where('seq', '>', seq)
        .orderBy('seq')
        .limit(limit)
        .execute(),

    async seqOf(conversation: string, id: string): Promise<number | undefined> {
      const row = await db
        .selectFrom('event')
        .select('seq')
        .where('conversation_id', '=', conversation)
        .where('id', '=', id)
        .executeTakeFirst()
      return row?.seq
    },
  }
}

const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))
