import type { LogEvent } from '@parley/contract/events'
import { client } from '../api.ts'
import { type OpenLog, openState } from './log-state.ts'

const pageSize = 100

/** What strangers may read of a conversation, from its end. Nothing of it changes while it is looked at. */
export function openSharedLog(id: string): OpenLog {
  const held = openState()
  let next: string | null = null

  async function page() {
    const found = await client.shared.searchEvents({
      query: {
        conversation_id: id,
        sort_order: 'TIMESTAMP_DESC',
        limit: pageSize,
        ...(next === null ? {} : { page_id: next }),
      },
    })
    next = found.next_page_id
    return { events: (found.items as unknown as LogEvent[]).toReversed(), hasEarlier: next !== null }
  }

  page().then(
    (found) => held.set({ ...found, isLoaded: true }),
    (error: unknown) => held.set({ error, isLoaded: true }),
  )

  return {
    state: held.state,
    subscribe: held.subscribe,
    hold: held.hold,
    async earlier() {
      const { hasEarlier, isLoadingEarlier } = held.state()
      if (hasEarlier && !isLoadingEarlier) await held.loadEarlier(page)
    },
  }
}
