import { Problem } from '@parley/contract/problems'
import type {
  WebhookDelivery,
  WebhookSubscriptionRequest,
  WebhookSubscriptionUpdate,
} from '@parley/contract/webhook-subscriptions'
import type { Clock } from '@parley/store/clock'
import type { Cursor } from '@parley/store/page'
import { checkKept } from '@parley/wire/kept-address'
import type { Outbound } from '@parley/wire/outbound'
import type { Conversations } from '../conversations/service.ts'
import { newSecret, type Signer } from './sign.ts'
import type { SubscriptionRow, WebhookStore } from './store.ts'

/*
 * The addresses that people have subscribed, as their owner manages them. One that says itself that it leads inside is not
 * taken; where a name leads is decided at each call, when it is resolved, and the log of deliveries says so.
 */

export interface WebhookParts {
  store: WebhookStore
  conversations: Pick<Conversations, 'own'>
  sign: Signer
  way: Pick<Outbound, 'check'>
  clock: Clock
  cursor: Cursor
  /** There is something to send. */
  poke: () => void
}

export type Webhooks = ReturnType<typeof webhookService>

const mostSubscriptions = 50

type Paging = { page_id?: string | undefined; limit: number }

export function webhookService({ store, conversations, sign, way, clock, cursor, poke }: WebhookParts) {
  async function own(owner: string, id: string): Promise<SubscriptionRow> {
    const row = await store.find(owner, id)
    if (row === undefined) throw new Problem('not_found')
    return row
  }

  async function mustOwn(owner: string, { conversation_id: id }: WebhookSubscriptionUpdate): Promise<void> {
    if (typeof id === 'string') await conversations.own(owner, id)
  }

  async function paged<Row extends { created_at: string; id: string }>(
    query: string,
    { page_id, limit }: Paging,
    read: (after: { at: string; id: string } | null, limit: number) => Promise<Row[]>,
  ) {
    const at = page_id === undefined ? null : cursor.read(page_id, query)
    const rows = await read(at === null ? null : { at: String(at[0]), id: String(at[1]) }, limit + 1)
    const items = rows.slice(0, limit)
    const end = rows.length > limit ? items.at(-1) : undefined
    return { items, next_page_id: end === undefined ? null : cursor.write({ query, at: [end.created_at, end.id] }) }
  }

  return {
    search: (owner: string, query: Paging) =>
      paged(`webhook subscriptions ${owner}`, query, (after, limit) => store.page(owner, after, limit)),

    async create(owner: string, wanted: WebhookSubscriptionRequest) {
      checkKept(way, wanted.url, ['url'])
      await mustOwn(owner, wanted)
      const id = clock.id()
      const secret = newSecret()
      const shown = { id, ...wanted, paused_reason: null, created_at: clock.now(), updated_at: clock.now() }
      const row = { ...shown, owner_id: owner, sealed_secrets: await sign.seal(owner, id, secret) }
      await store.transaction(async (rows) => {
        if (!(await rows.insert(row, mostSubscriptions)))
          throw new Problem('state_conflict', `There can be ${mostSubscriptions} subscriptions.`)
        await rows.keepCursors(owner)
      })
      return { ...shown, secret }
    },

    async update(owner: string, id: string, change: WebhookSubscriptionUpdate) {
      await own(owner, id)
      if (change.url !== undefined) checkKept(way, change.url, ['url'])
      await mustOwn(owner, change)
      const said = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      const cleared = change.enabled === true ? { paused_reason: null } : {}
      const after = await store.transaction(async (rows) => {
        const updated = await rows.update(id, { ...said, ...cleared })
        await rows.keepCursors(owner)
        return updated
      })
      if (after === undefined) throw new Problem('not_found')
      poke()
      return after
    },

    async remove(owner: string, id: string): Promise<{ success: true }> {
      await store.transaction(async (rows) => {
        if (!(await rows.delete(owner, id))) throw new Problem('not_found')
        await rows.keepCursors(owner)
      })
      return { success: true }
    },

    async rotate(owner: string, id: string) {
      const secret = newSecret()
      const sealed_secrets = await sign.rotate(await own(owner, id), secret)
      const row = await store.update(id, { sealed_secrets })
      if (row === undefined) throw new Problem('not_found')
      return { ...row, secret }
    },

    async deliveries(
      owner: string,
      id: string,
      query: Paging & { status__eq?: WebhookDelivery['status'] | undefined },
    ) {
      await own(owner, id)
      const status = query.status__eq ?? null
      return paged(`webhook deliveries ${id} ${status ?? ''}`, query, (after, limit) =>
        store.deliveries(id, status, after, limit),
      )
    },

    async replay(owner: string, id: string, delivery: string): Promise<WebhookDelivery> {
      await own(owner, id)
      const row = await store.again(id, delivery)
      if (row === undefined) throw new Problem('not_found')
      poke()
      return row
    },
  }
}
