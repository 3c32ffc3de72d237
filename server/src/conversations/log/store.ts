import type { EventKind, EventSource } from '@parley/contract/events'
import type { Database } from '@parley/store/database'
import { CompiledQuery, sql } from 'kysely'
import type { Usages } from '../metrics.ts'

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

/** What one run appends. */
export interface Appended {
  conversation: string
  epoch: number
  events: readonly NewEventRow[]
  change: HeadChange
}

/**
 * The hot statement of the house, as text so that it is neither built nor planned anew. The heads are locked in order first;
 * an event goes only where its head was still ours.
 */
const appendText = `
  with asked as materialized (
    select * from unnest($1::uuid[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::text[])
      as a (id, epoch, n, status, reason, metrics)),
  locked as materialized (
    select h.conversation_id from conversation_head h join asked a on h.conversation_id = a.id and h.run_epoch = a.epoch
    order by h.conversation_id for update of h),
  head as (
    update conversation_head h set
      last_seq = h.last_seq + a.n,
      execution_status = coalesce(a.status, h.execution_status),
      status_reason = case when a.status is null then h.status_reason else a.reason::jsonb end,
      metrics = h.metrics || coalesce(a.metrics::jsonb, '{}')
    from asked a, locked l where h.conversation_id = a.id and l.conversation_id = a.id
    returning h.conversation_id, h.last_seq - a.n as base),
  added as (
    insert into event (conversation_id, seq, id, kind, source, at, body)
    select head.conversation_id, head.base + e.n, e.id, e.kind, e.source, e.at, e.body
    from head join unnest($7::uuid[], $8::int[], $9::uuid[], $10::text[], $11::text[], $12::timestamptz[], $13::text[])
      as e (conversation_id, n, id, kind, source, at, body) on e.conversation_id = head.conversation_id)
  select conversation_id, base from head`

export type LogStore = ReturnType<typeof logStore>

export function logStore(database: Database) {
  const db = database.withTables<{ event: EventRow & { conversation_id: string } }>()

  /** The events' columns, one array each, so that a batch of any size is one prepared statement. */
  const columns = (events: readonly NewEventRow[]) => sql`unnest(
      ${events.map((event) => event.id)}::uuid[], ${events.map((event) => event.kind)}::text[],
      ${events.map((event) => event.source)}::text[], ${events.map((event) => event.at)}::timestamptz[],
      ${events.map((event) => event.body)}::text[]) with ordinality as e (id, kind, source, at, body, n)`

  /** Of several runs in one statement: the seq before each one's first event. Those that lost their epoch are not in it. */
  async function appendMany(runs: readonly Appended[]): Promise<Map<string, number>> {
    // In one order for all, so that two such statements cannot wait for each other.
    const ordered = runs.toSorted((one, other) => (one.conversation < other.conversation ? -1 : 1))
    const events = ordered.flatMap(({ conversation, events }) =>
      events.map((event, index) => ({ conversation, event, n: index + 1 })),
    )
    const done = await db.executeQuery<{ conversation_id: string; base: number }>(
      CompiledQuery.raw(appendText, [
        ordered.map((run) => run.conversation),
        ordered.map((run) => run.epoch),
        ordered.map((run) => run.events.length),
        ordered.map((run) => run.change.executionStatus ?? null),
        ordered.map((run) => text(run.change.statusReason)),
        ordered.map((run) => text(run.change.metrics)),
        events.map((one) => one.conversation),
        events.map((one) => one.n),
        events.map((one) => one.event.id),
        events.map((one) => one.event.kind),
        events.map((one) => one.event.source),
        events.map((one) => one.event.at),
        events.map((one) => one.event.body),
      ]),
    )
    return new Map(done.rows.map((row) => [row.conversation_id, row.base]))
  }

  return {
    /** The seq before the first of these events, or undefined when another worker has taken over. */
    appendFenced: async (
      conversation: string,
      epoch: number,
      events: readonly NewEventRow[],
      change: HeadChange = {},
    ): Promise<number | undefined> => (await appendMany([{ conversation, epoch, events, change }])).get(conversation),

    appendMany,

    /**
     * From outside the run. `wants` asks for a run; `revives` are the statuses that become idle by it; `moves`: it counts as
     * news of the conversation. Undefined when there is no such conversation.
     */
    async append(
      conversation: string,
      events: readonly NewEventRow[],
      { wants, revives, moves = false }: { wants: boolean; revives: readonly string[]; moves?: boolean },
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
          select ${conversation}, head.base + e.n, e.id, e.kind, e.source, e.at, e.body from head, ${columns(events)}),
        -- After the head, as a deletion does: else the two could wait for each other.
        moved as (update conversation set updated_at = now() from head where ${moves}::bool and id = ${conversation})
        select base from head`.execute(db)
      return done.rows[0]?.base
    },

    /** Sets the status of a conversation that no run is at work on. */
    async rest(conversation: string, status: string): Promise<void> {
      await sql`update conversation_head set execution_status = ${status}, status_reason = null
        where conversation_id = ${conversation} and execution_status <> 'running'`.execute(db)
    },

    /** What the conversation has used, by usage id. Holds the head's row until the transaction ends. */
    async metrics(conversation: string): Promise<Usages | undefined> {
      const head = await sql<{ metrics: Usages }>`
        select metrics from conversation_head where conversation_id = ${conversation} for update`.execute(db)
      return head.rows[0]?.metrics
    },

    /** Sets what is used under an id that no run counts. */
    async count(conversation: string, usage: string, metrics: unknown): Promise<void> {
      await sql`update conversation_head set metrics = metrics || jsonb_build_object(${usage}::text, ${text(metrics)}::jsonb)
        where conversation_id = ${conversation}`.execute(db)
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
        select run_epoch, wanted_seq from conversation_head where conversation_id = ${conversation} for update`.execute(
        db,
      )
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

    at: (conversation: string, seq: number): Promise<EventRow | undefined> =>
      db
        .selectFrom('event')
        .select(['seq', 'id', 'kind', 'source', 'at', 'body'])
        .where('conversation_id', '=', conversation)
        .where('seq', '=', seq)
        .executeTakeFirst(),

    /** Newest first, up to and with `seq`: what the agent has said and done. */
    lastOfAgent: (conversation: string, seq: number, limit: number): Promise<EventRow[]> =>
      db
        .selectFrom('event')
        .select(['seq', 'id', 'kind', 'source', 'at', 'body'])
        .where('conversation_id', '=', conversation)
        .where('seq', '<=', seq)
        .where('source', '=', 'agent')
        .where('kind', 'in', ['MessageEvent', 'ActionEvent'])
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute(),

    /** Of these ids, those that are in the log. */
    async known(conversation: string, ids: readonly string[]): Promise<Set<string>> {
      const rows = await database.rows(sql<{ id: string }>`
        select id from event where conversation_id = ${conversation} and id = any(${ids}::uuid[])`)
      return new Set(rows.map((row) => row.id))
    },

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

const text = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))
