import type { WebhookDelivery, WebhookSubscription } from '@parley/contract/webhook-subscriptions'
import type { Database } from '@parley/store/database'
import { type Transactional, transactional } from '@parley/store/transactional'
import { sql } from 'kysely'

export interface SubscriptionRow extends WebhookSubscription {
  owner_id: string
  sealed_secrets: string
}

/** A delivery, and what is needed to make it. */
export interface DueRow extends WebhookDelivery {
  conversation_id: string | null
  event_seq: number | null
  data: Record<string, unknown>
}

export interface Answered {
  status: WebhookDelivery['status']
  response_status: number | null
  error: string | null
  /** Until the next try; null: there is none. */
  delayMs: number | null
}

interface Tables {
  webhook_subscription: SubscriptionRow
  webhook_delivery: DueRow
}

const shown = [
  'id',
  'name',
  'url',
  'types',
  'conversation_id',
  'enabled',
  'paused_reason',
  'created_at',
  'updated_at',
] as const
const logged = [
  'id',
  'subscription_id',
  'type',
  'status',
  'attempts',
  'response_status',
  'error',
  'created_at',
  'next_attempt_at',
  'delivered_at',
] as const

type After = { at: string; id: string } | null
type Rows = ReturnType<typeof webhookRows>
export type WebhookStore = Transactional<Rows>

export const webhookStore = (database: Database): WebhookStore => transactional(database, webhookRows)

function webhookRows(database: Database) {
  const db = database.withTables<Tables>()
  return {
    page(owner: string, after: After, limit: number): Promise<WebhookSubscription[]> {
      let query = db
        .selectFrom('webhook_subscription')
        .select([...shown])
        .where('owner_id', '=', owner)
      if (after !== null)
        query = query.where(sql<boolean>`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)`)
      return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
    },

    find: (owner: string, id: string): Promise<SubscriptionRow | undefined> =>
      db
        .selectFrom('webhook_subscription')
        .selectAll()
        .where('id', '=', id)
        .where('owner_id', '=', owner)
        .executeTakeFirst(),

    /** For whoever sends; undefined when it is off. */
    enabled: (id: string): Promise<SubscriptionRow | undefined> =>
      db
        .selectFrom('webhook_subscription')
        .selectAll()
        .where('id', '=', id)
        .where('enabled', '=', true)
        .executeTakeFirst(),

    /** False when the owner has as many as there may be. */
    async insert(row: SubscriptionRow, most: number): Promise<boolean> {
      await database.rows(sql`select pg_advisory_xact_lock(hashtextextended('webhooks ' || ${row.owner_id}, 0))`)
      const there = await database.rows(sql<{ n: number }>`
        select count(*)::int as n from webhook_subscription where owner_id = ${row.owner_id}`)
      if ((there[0]?.n ?? 0) >= most) return false
      await db.insertInto('webhook_subscription').values(row).execute()
      return true
    },

    async update(
      id: string,
      change: Partial<Omit<SubscriptionRow, 'id' | 'owner_id' | 'created_at'>>,
    ): Promise<WebhookSubscription | undefined> {
      return db
        .updateTable('webhook_subscription')
        .set({ ...change, updated_at: sql<string>`now()` })
        .where('id', '=', id)
        .returning([...shown])
        .executeTakeFirst()
    },

    async delete(owner: string, id: string): Promise<boolean> {
      const done = await db
        .deleteFrom('webhook_subscription')
        .where('id', '=', id)
        .where('owner_id', '=', owner)
        .executeTakeFirst()
      return done.numDeletedRows === 1n
    },

    /** From now on the events of all the owner's conversations are told; none of them when nobody wants them any more. */
    async keepCursors(owner: string): Promise<void> {
      await database.rows(sql`
        insert into webhook_cursor (conversation_id, seq)
        select c.id, h.last_seq from conversation c join conversation_head h on h.conversation_id = c.id
        where c.owner_id = ${owner} and exists (select from webhook_subscription s
          where s.owner_id = ${owner} and s.enabled and 'conversation.event' = any(s.types))
        on conflict do nothing`)
      await database.rows(sql`
        delete from webhook_cursor k using conversation c
        where c.id = k.conversation_id and c.owner_id = ${owner} and not exists (select from webhook_subscription s
          where s.owner_id = ${owner} and s.enabled and 'conversation.event' = any(s.types))`)
    },

    /** One row for each new event and subscription, of these conversations or (null) of all. Passed over are those that another replica is at. */
    async tellEvents(conversations: readonly string[] | null, limit: number): Promise<void> {
      await database.rows(sql`
        with behind as (
          select k.conversation_id, k.seq, least(h.last_seq, k.seq + ${limit}) as upto from webhook_cursor k
          join conversation_head h on h.conversation_id = k.conversation_id
          where h.last_seq > k.seq and (${conversations === null} or k.conversation_id = any(${conversations ?? []}::uuid[]))
          limit 100 for update of k skip locked),
        told as (
          insert into webhook_delivery (id, subscription_id, conversation_id, type, event_seq, data)
          select gen_random_uuid(), s.id, c.id, 'conversation.event', e.seq, '{}'::jsonb
          from behind b join conversation c on c.id = b.conversation_id
          join webhook_subscription s on s.owner_id = c.owner_id and s.enabled and 'conversation.event' = any(s.types)
            and (s.conversation_id is null or s.conversation_id = c.id)
          join event e on e.conversation_id = c.id and e.seq > b.seq and e.seq <= b.upto)
        update webhook_cursor k set seq = b.upto from behind b where k.conversation_id = b.conversation_id`)
    },

    anyEnabled: async (): Promise<boolean> =>
      (await database.rows(sql`select 1 from webhook_subscription where enabled limit 1`)).length > 0,

    /** Subscriptions with something to send now. */
    async waiting(limit: number): Promise<string[]> {
      const rows = await database.rows(sql<{ id: string }>`
        select s.id from webhook_subscription s where s.enabled and exists (
          select from webhook_delivery d where d.subscription_id = s.id and d.status = 'pending' and d.next_attempt_at <= now())
        limit ${limit}`)
      return rows.map((row) => row.id)
    },

    /** But for those that are on their way. */
    due: (subscription: string, going: readonly string[], limit: number): Promise<DueRow[]> =>
      db
        .selectFrom('webhook_delivery')
        .select([...logged, 'conversation_id', 'event_seq', 'data'])
        .where('subscription_id', '=', subscription)
        .where('status', '=', 'pending')
        .where(sql<boolean>`next_attempt_at <= now() and id <> all(${going}::uuid[])`)
        .orderBy('next_attempt_at')
        .orderBy('event_seq')
        .limit(limit)
        .execute(),

    /** What came of a try; nothing when another try was counted meanwhile. */
    async answered(row: WebhookDelivery, answer: Answered): Promise<void> {
      await database.rows(sql`
        with done as (
          update webhook_delivery set attempts = attempts + 1, status = ${answer.status},
            response_status = ${answer.response_status}, error = ${answer.error},
            next_attempt_at = clock_timestamp() + make_interval(secs => ${answer.delayMs}::float8 / 1000),
            delivered_at = case when ${answer.status} = 'delivered' then clock_timestamp() end
          where id = ${row.id} and attempts = ${row.attempts} and status = 'pending' returning subscription_id, delivered_at)
        update webhook_subscription s set delivered_at = done.delivered_at from done
        where s.id = done.subscription_id and done.delivered_at is not null`)
    },

    async pause(subscription: string, reason: string): Promise<void> {
      await database.rows(sql`update webhook_subscription
        set enabled = false, paused_reason = ${reason}, updated_at = now() where id = ${subscription} and enabled`)
    },

    /** When nothing has reached the address since this delivery was made. */
    async pauseIfDead(row: WebhookDelivery, reason: string): Promise<void> {
      await database.rows(sql`update webhook_subscription
        set enabled = false, paused_reason = ${reason}, updated_at = now()
        where id = ${row.subscription_id} and enabled and coalesce(delivered_at, '-infinity') < ${row.created_at}::timestamptz`)
    },

    /** Pauses those for whom more than `most` wait, and forgets what has long been answered. */
    async tidy(most: number, reason: string, days: number): Promise<void> {
      await database.rows(sql`
        update webhook_subscription s set enabled = false, paused_reason = ${reason}, updated_at = now()
        where s.enabled and (select count(*) from (select from webhook_delivery d
          where d.subscription_id = s.id and d.status = 'pending' limit ${most + 1}) as some) > ${most}`)
      await database.rows(sql`delete from webhook_delivery where id in (
        select id from webhook_delivery where status <> 'pending' and created_at < now() - make_interval(days => ${days})
        limit 5000)`)
    },

    deliveries(
      subscription: string,
      status: WebhookDelivery['status'] | null,
      after: After,
      limit: number,
    ): Promise<WebhookDelivery[]> {
      let query = db
        .selectFrom('webhook_delivery')
        .select([...logged])
        .where('subscription_id', '=', subscription)
      if (status !== null) query = query.where('status', '=', status)
      if (after !== null)
        query = query.where(sql<boolean>`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)`)
      return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
    },

    again: (subscription: string, delivery: string): Promise<WebhookDelivery | undefined> =>
      db
        .updateTable('webhook_delivery')
        .set({
          status: 'pending',
          response_status: null,
          error: null,
          delivered_at: null,
          next_attempt_at: sql<string>`clock_timestamp()`,
        })
        .where('id', '=', delivery)
        .where('subscription_id', '=', subscription)
        .returning([...logged])
        .executeTakeFirst(),
  }
}
