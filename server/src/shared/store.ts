import type { EventKind } from '@parley/contract/events'
import { sharedKinds } from '@parley/contract/shared'
import type { Database } from '@parley/store/database'
import { type RawBuilder, sql } from 'kysely'
import type { EventRow } from '../conversations/service.ts'

export interface SharedFilters {
  kind__eq?: EventKind | undefined
  timestamp__gte?: string | undefined
  timestamp__lt?: string | undefined
}

export type SharedStore = ReturnType<typeof sharedStore>

/** Reads of what is public. That it is public is part of every statement, so that a change of mind counts at once. */
export function sharedStore(database: Database) {
  const kinds = [...sharedKinds]
  const visible = (
    conversation: string,
    { kind__eq, timestamp__gte, timestamp__lt }: SharedFilters,
  ): RawBuilder<unknown> => sql`
    e.conversation_id = ${conversation} and e.kind = any(${kinds}::text[])
    and exists (select 1 from conversation c where c.id = e.conversation_id and c.public)
    and (${kind__eq ?? null}::text is null or e.kind = ${kind__eq ?? null})
    and (${timestamp__gte ?? null}::timestamptz is null or e.at >= ${timestamp__gte ?? null})
    and (${timestamp__lt ?? null}::timestamptz is null or e.at < ${timestamp__lt ?? null})`
  return {
    /** Those of these that are public, and whose they are. */
    conversations: (ids: readonly string[]): Promise<{ id: string; owner_id: string }[]> =>
      database.rows(sql<{ id: string; owner_id: string }>`
        select id, owner_id from conversation where public and id = any(${[...ids]}::uuid[])`),

    /** Between two numbers, both left out; oldest first unless descending. */
    page(
      conversation: string,
      filters: SharedFilters,
      { after, descending, limit }: { after: number | null; descending: boolean; limit: number },
    ): Promise<EventRow[]> {
      const beyond = descending ? sql`e.seq < ${after ?? Number.MAX_SAFE_INTEGER}` : sql`e.seq > ${after ?? 0}`
      return database.rows(sql<EventRow>`
        select e.seq, e.id, e.kind, e.source, e.at, e.body from event e
        where ${visible(conversation, filters)} and ${beyond}
        order by e.seq ${descending ? sql`desc` : sql`asc`} limit ${limit}`)
    },

    async count(conversation: string, filters: SharedFilters): Promise<number> {
      const rows = await database.rows(sql<{ n: number }>`
        select count(*)::int as n from event e where ${visible(conversation, filters)}`)
      return rows[0]?.n ?? 0
    },

    many: (conversation: string, ids: readonly string[]): Promise<EventRow[]> =>
      database.rows(sql<EventRow>`
        select e.seq, e.id, e.kind, e.source, e.at, e.body from event e
        where ${visible(conversation, {})} and e.id = any(${[...ids]}::uuid[])`),
  }
}
