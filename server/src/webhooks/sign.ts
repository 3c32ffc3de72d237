import { randomBytes } from 'node:crypto'
import type { Clock } from '@parley/store/clock'
import type { Seal } from '@parley/store/seal'
import { Webhook } from 'standardwebhooks'
import type { SubscriptionRow } from './store.ts'

/*
 * Standard Webhooks: `webhook-signature` has one HMAC-SHA256 over id, time and body for each secret that is good. A secret that
 * was replaced signs for a day more, so that the receiver can change it without losing a call.
 */

interface Secret {
  secret: string
  /** ISO time; null: the newest. */
  until: string | null
}

const replacedMs = 24 * 3_600_000
const place = (id: string): string => `webhook_subscription.sealed_secrets.${id}`

export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

export type Signer = ReturnType<typeof signer>

export function signer({ seal, clock }: { seal: Seal; clock: Clock }) {
  async function open(row: Pick<SubscriptionRow, 'id' | 'owner_id' | 'sealed_secrets'>): Promise<Secret[]> {
    // Closed by us.
    const all = JSON.parse(await seal.open(row.owner_id, place(row.id), row.sealed_secrets)) as Secret[]
    return all.filter(({ until }) => until === null || until > clock.now())
  }

  return {
    seal: (owner: string, id: string, secret: string): Promise<string> =>
      seal.close(owner, place(id), JSON.stringify([{ secret, until: null }] satisfies Secret[])),

    /** The sealed secrets with a new one at their head. */
    async rotate(row: SubscriptionRow, secret: string): Promise<string> {
      const until = new Date(clock.millis() + replacedMs).toISOString()
      const [last] = await open(row)
      const kept: Secret[] = last === undefined ? [] : [{ ...last, until }]
      const all: Secret[] = [{ secret, until: null }, ...kept]
      return seal.close(row.owner_id, place(row.id), JSON.stringify(all))
    },

    async headers(row: SubscriptionRow, id: string, body: string): Promise<Record<string, string>> {
      const at = new Date(clock.millis())
      const signatures = (await open(row)).map(({ secret }) => new Webhook(secret).sign(id, at, body))
      return {
        'content-type': 'application/json',
        'user-agent': 'Parley',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signatures.join(' '),
      }
    },
  }
}
