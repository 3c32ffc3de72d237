import type { EventKind, EventSource } from '@parley/contract/events'
import type { Database } from '@parley/store/database'
import { sql } from 'kysely'
import type { EventRow } from '../conversations/service.ts'

export interface EventFilters {
  kind__eq?: EventKind | undefined
  source__eq?: EventSource | undefined
  timestamp__gte?: string | undefined
  timestamp__lt?: string | undefined
}

export type EventStore = ReturnType<typeof eventStore>

/** Reads of the log. Only a run and the conversation's service write it. */
export function eventStore(database: Database) {
  const db = database.withTables<{ event: EventRow & { conversation_id: string } }>()
  const columns = ['seq', 'id', 'kind', 'source', 'at', 'body'] as const

  return {
    page(
      conversation: string,
      filters: EventFilters,
      bounds: { above: number; below: number | null; descending: boolean; limit: number },
    ) {
      let query = db
        .selectFrom('event')
        .select([...columns])
        .where('conversation_id', '=', conversation)
      query = query.where('seq', '>', bounds.above)
      if (bounds.below !== null) query = query.where('seq', '<', bounds.below)
      if (filters.kind__eq !== undefined) query = query.where('kind', '=', filters.kind__eq)
      if (filters.source__eq !== undefined) query = query.where('source', '=', filters.source__eq)
      if (filters.timestamp__gte !== undefined) query = query.where('at', '>=', filters.timestamp__gte)
      if (filters.timestamp__lt !== undefined) query = query.where('at', '<', filters.timestamp__lt)
      return query
        .orderBy('seq', bounds.descending ? 'desc' : 'asc')
        .limit(bounds.limit)
        .execute()
    },

    async count(conversation: string, filters: EventFilters): Promise<number> {
      const rows = await database.rows(sql<{ n: number }>`
        select count(*)::int as n from event where conversation_id = ${conversation}
          and (${filters.kind__eq ?? null}::text is null or kind = ${filters.kind__eq ?? null})
          and (${filters.source__eq ?? null}::text is null or source = ${filters.source__eq ?? null})
          and (${filters.timestamp__gte ?? null}::timestamptz is null or at >= ${filters.timestamp__gte ?? null})
          and (${filters.timestamp__lt ?? null}::timestamptz is null or at < ${filters.timestamp__lt ?? null})`)
      return rows[0]?.n ?? 0
    },

    /** The number of the last event before this time; 0 when there is none. */
    async before(conversation: string, time: string): Promise<number> {
      const row = await db
        .selectFrom('event')
        .select('seq')
        .where('conversation_id', '=', conversation)
        .where('at', '<', time)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row?.seq ?? 0
    },

    many: (conversation: string, ids: readonly string[]): Promise<EventRow[]> =>
      db
        .selectFrom('event')
        .select([...columns])
        .where('conversation_id', '=', conversation)
        .where('id', 'in', [...ids])
        .execute(),
  }
}
