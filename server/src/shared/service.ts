import type { Event } from '@parley/contract/events'
import { Problem } from '@parley/contract/problems'
import { SharedConversation } from '@parley/contract/shared'
import type { Cursor } from '@parley/store/page'
import { type Conversations, record } from '../conversations/service.ts'
import type { SharedFilters, SharedStore } from './store.ts'

/** What strangers may read: by id only, and only while its owner lets them. */

export type Shared = ReturnType<typeof sharedService>

interface Parts {
  store: SharedStore
  conversations: Pick<Conversations, 'many'>
  cursor: Cursor
}

type Search = SharedFilters & {
  conversation_id: string
  sort_order: 'TIMESTAMP' | 'TIMESTAMP_DESC'
  page_id?: string | undefined
  limit: number
}

export function sharedService({ store, conversations, cursor }: Parts) {
  async function mustBePublic(id: string): Promise<void> {
    if ((await store.conversations([id])).length === 0) throw new Problem('not_found')
  }

  return {
    async conversations(ids: readonly string[]): Promise<(SharedConversation | null)[]> {
      const owners = Map.groupBy(await store.conversations(ids), (row) => row.owner_id)
      const found = await Promise.all(
        [...owners].map(([owner, rows]) =>
          conversations.many(
            owner,
            rows.map((row) => row.id),
          ),
        ),
      )
      const shown = found.flat().flatMap((one) => (one === null ? [] : [SharedConversation.parse(one)]))
      const byId = new Map(shown.map((one) => [one.id, one]))
      return ids.map((id) => byId.get(id) ?? null)
    },

    async search({ conversation_id, sort_order, page_id, limit, ...filters }: Search) {
      await mustBePublic(conversation_id)
      const key = `shared-events ${conversation_id} ${sort_order} ${JSON.stringify(filters)}`
      const after = page_id === undefined ? null : Number(cursor.read(page_id, key)[0])
      const descending = sort_order === 'TIMESTAMP_DESC'
      const rows = await store.page(conversation_id, filters, { after, descending, limit: limit + 1 })
      const items = rows.slice(0, limit)
      const end = rows.length > limit ? items.at(-1) : undefined
      return {
        items: items.map((row): Event => record(row)),
        next_page_id: end === undefined ? null : cursor.write({ query: key, at: [end.seq] }),
      }
    },

    async count({ conversation_id, ...filters }: SharedFilters & { conversation_id: string }): Promise<number> {
      await mustBePublic(conversation_id)
      return store.count(conversation_id, filters)
    },

    async events(conversation: string, ids: readonly string[]): Promise<(Event | null)[]> {
      await mustBePublic(conversation)
      return many(conversation, ids)
    },

    /** Null also when the conversation is not public. */
    event: async (conversation: string, id: string): Promise<Event | null> =>
      (await many(conversation, [id]))[0] ?? null,
  }

  async function many(conversation: string, ids: readonly string[]): Promise<(Event | null)[]> {
    const rows = new Map((await store.many(conversation, ids)).map((row) => [row.id, row]))
    return ids.map((id) => {
      const row = rows.get(id)
      return row === undefined ? null : record(row)
    })
  }
}
