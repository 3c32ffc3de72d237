import type { Delta, Event } from '@parley/contract/events'
import { Problem } from '@parley/contract/problems'
import type { Cursor } from '@parley/store/page'
import type { Frame } from '@parley/wire/serve'
import { type Conversations, type EventRow, record } from '../conversations/service.ts'
import type { EventFilters, EventStore } from './store.ts'

interface Parts {
  store: EventStore
  conversations: Conversations
  cursor: Cursor
}

export type Events = ReturnType<typeof eventService>

type Search = EventFilters & {
  seq__gt?: number | undefined
  sort_order: 'TIMESTAMP' | 'TIMESTAMP_DESC'
  page_id?: string | undefined
  limit: number
}

interface Beginning {
  after_seq?: number | undefined
  after_id?: string | undefined
  /** Inclusive. */
  after_timestamp?: string | undefined
  resend_mode?: 'all' | 'since' | undefined
}

const followPage = 500
/** A lost wake delays a viewer by so much at most. */
const pollMs = 2_000

export function eventService({ store, conversations, cursor }: Parts) {
  const event = (row: EventRow): Event => record(row)

  return {
    async search(owner: string, id: string, { seq__gt, sort_order, page_id, limit, ...filters }: Search) {
      await conversations.own(owner, id)
      const descending = sort_order === 'TIMESTAMP_DESC'
      const key = `events ${id} ${sort_order} ${seq__gt ?? 0} ${JSON.stringify(filters)}`
      const at = page_id === undefined ? null : Number(cursor.read(page_id, key)[0])
      const above = descending || at === null ? (seq__gt ?? 0) : at
      const rows = await store.page(id, filters, { above, below: descending ? at : null, descending, limit: limit + 1 })
      const items = rows.slice(0, limit)
      const end = rows.length > limit ? items.at(-1) : undefined
      return {
        items: items.map(event),
        next_page_id: end === undefined ? null : cursor.write({ query: key, at: [end.seq] }),
      }
    },

    async count(owner: string, id: string, filters: EventFilters): Promise<number> {
      await conversations.own(owner, id)
      return store.count(id, filters)
    },

    async many(owner: string, id: string, ids: readonly string[]): Promise<(Event | null)[]> {
      await conversations.own(owner, id)
      const rows = new Map((await store.many(id, ids)).map((row) => [row.id, row]))
      return ids.map((one) => {
        const row = rows.get(one)
        return row === undefined ? null : event(row)
      })
    },

    /** Where a live channel begins: after this number; undefined for what is new from now on. */
    async beginning(owner: string, id: string, said: Beginning): Promise<number | undefined> {
      await conversations.own(owner, id)
      if (said.after_seq !== undefined) return said.after_seq
      if (said.after_id !== undefined) {
        const [row] = await store.many(id, [said.after_id])
        if (row === undefined) throw new Problem('not_found', 'The event after_id is not in this conversation.')
        return row.seq
      }
      if (said.resend_mode === 'all') return 0
      if (said.after_timestamp !== undefined) return store.before(id, said.after_timestamp)
      if (said.resend_mode === undefined) return undefined
      throw new Problem('validation_error', 'resend_mode=since needs after_timestamp, after_id or after_seq.')
    },

    /** The log after `after` without gap or duplicate, and between its events what is on the way to becoming one. */
    async follow(
      owner: string,
      id: string,
      after: number | undefined,
      signal: AbortSignal,
    ): Promise<AsyncIterable<Frame<Event | Delta>>> {
      const { last_seq } = await conversations.own(owner, id)
      return frames(id, after ?? last_seq, signal)
    },
  }

  async function* frames(id: string, after: number, signal: AbortSignal): AsyncGenerator<Frame<Event | Delta>> {
    const watch = conversations.watch(id)
    let seq = after
    let behind = false
    try {
      while (!signal.aborted) {
        // What was streamed before these events were stored belongs before them.
        for (const delta of watch.deltas()) yield { event: delta.kind, data: delta }
        if (watch.stirred() || behind) {
          const bounds = { above: seq, below: null, descending: false, limit: followPage }
          const rows = watch.recent(seq) ?? (await store.page(id, {}, bounds))
          for (const row of rows) yield { id: String(row.seq), event: row.kind, data: event(row) }
          seq = rows.at(-1)?.seq ?? seq
          behind = rows.length === followPage
        } else await watch.next(pollMs, signal)
      }
    } finally {
      watch.close()
    }
  }
}
