import { createHmac, type KeyObject } from 'node:crypto'
import type { AuditEntry } from '@parley/contract/audit'

/*
 * The entries about one person's things are a chain: each is closed, under a key that is not in the database in clear, over
 * its own text and the entry before it. So an entry that is changed, left out or put in between shows, also when it was
 * done with full rights on the database.
 */

export interface Link {
  chain: string
  chain_seq: number
  prev_hash: Buffer
  hash: Buffer
}

/** Of those about a person; of what nobody's things were touched by. */
export const chainOf = ({ user_id }: Pick<AuditEntry, 'user_id'>): string => user_id ?? 'nobody'

/** What stands before the first entry. */
export const beginning = Buffer.alloc(32)

/** All of an entry, in this order for ever: what is closed once must close the same again. */
export const closed = [
  'id',
  'at',
  'user_id',
  'actor_kind',
  'actor_id',
  'action',
  'object',
  'outcome',
  'ip',
  'user_agent',
  'request_id',
] as const satisfies (keyof AuditEntry)[]

export function hashOf(
  key: KeyObject,
  entry: AuditEntry,
  link: Pick<Link, 'chain' | 'chain_seq' | 'prev_hash'>,
): Buffer {
  const text = JSON.stringify([link.chain, link.chain_seq, ...closed.map((name) => entry[name])])
  return createHmac('sha256', key).update(link.prev_hash).update(text).digest()
}
