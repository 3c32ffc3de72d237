import type { FinalResponse, Why } from '@parley/contract/conversation-insight'
import type { SandboxStatus } from '@parley/contract/sandboxes'
import type { Sandboxes } from '../sandboxes/service.ts'
import type { Checkpoints } from './checkpoints/save.ts'
import type { InsightStore } from './insight-store.ts'
import { record } from './log/record.ts'
import type { Conversations } from './service.ts'
import type { Whole } from './store.ts'
import { whyOf } from './why.ts'
import { mostWords, saidBy } from './words.ts'

/** Questions about a conversation as a whole, answered from its row and the end of its log. */

export type Insight = ReturnType<typeof insightOf>

interface Parts {
  store: InsightStore
  conversations: Pick<Conversations, 'own' | 'sandboxOf'>
  checkpoints: Pick<Checkpoints, 'savedAt'>
  sandboxes: Pick<Sandboxes, 'statuses'>
}

/** Enough to see the calls of one answer of the model, all at work at once. */
const lookBack = 100

export function insightOf({ store, conversations, checkpoints, sandboxes }: Parts) {
  const live = (row: Whole, sandbox: SandboxStatus) => (sandbox === 'RUNNING' ? row.execution_status : null)

  async function detailOf({ sandbox_id: id }: Whole): Promise<string | null> {
    return id === null ? null : ((await sandboxes.statuses([id])).get(id)?.status_detail ?? null)
  }

  return {
    async finalResponse(owner: string, id: string): Promise<FinalResponse> {
      const row = await conversations.own(owner, id)
      const execution_status = live(row, await conversations.sandboxOf(row))
      for (const event of (await store.lastWords(id, mostWords)).map(record)) {
        const response = saidBy(event)
        if (response !== null) return { response, event_id: event.id, execution_status }
      }
      return { response: null, event_id: null, execution_status }
    },

    async why(owner: string, id: string): Promise<Why> {
      const row = await conversations.own(owner, id)
      const sandbox_status = await conversations.sandboxOf(row)
      const events = (await store.newest(id, lookBack)).map(record).reverse()
      const execution_status = live(row, sandbox_status)
      return {
        execution_status,
        sandbox_status,
        ...whyOf({
          row,
          sandbox: sandbox_status,
          sandboxDetail: await detailOf(row),
          savedAt: await checkpoints.savedAt(id),
          events,
        }),
      }
    },
  }
}
