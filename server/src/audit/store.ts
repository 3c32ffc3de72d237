import { createSecretKey } from 'node:crypto'
import type { AuditAction, AuditEntry } from '@parley/contract/audit'
import type { Database } from '@parley/store/database'
import { sql } from 'kysely'
import { beginning, chainOf, hashOf, type Link, closed } from './chain.ts'

export type AuditStore = ReturnType<typeof auditStore>

type Linked = AuditEntry & Link

export interface ChainRow {
  chain: string
  /** The oldest that is kept still. */
  first_seq: number
  last_seq: number
  last_hash: Buffer
}

interface Tables {
  audit_entry: Linked
  audit_chain: ChainRow
}

/** Entries are added, each to the end of its chain; the database refuses to change or delete them. `secret`: closes the chains. */
export function auditStore(database: Database, secret: Buffer) {
  const key = createSecretKey(secret)
  const db = database.withTables<Tables>()
  return {
    /** The chain is locked until the transaction around ends, so this is the last thing to do in it. */
    insert: (entry: AuditEntry): Promise<void> =>
      database.transaction(async (tx) => {
        const rows = tx.withTables<Tables>()
        const chain = chainOf(entry)
        await tx.rows(sql`insert into audit_chain (chain, last_hash) values (${chain}, ${beginning})
          on conflict do nothing`)
        const end = await rows
          .selectFrom('audit_chain')
          .select(['last_seq', 'last_hash'])
          .where('chain', '=', chain)
          .forUpdate()
          .executeTakeFirstOrThrow()
        const link = { chain, chain_seq: end.last_seq + 1, prev_hash: end.last_hash }
        const hash = hashOf(key, entry, link)
        await rows
          .insertInto('audit_entry')
          .values({ ...entry, ...link, hash })
          .execute()
        await rows
          .updateTable('audit_chain')
          .set({ last_seq: link.chain_seq, last_hash: hash })
          .where('chain', '=', chain)
          .execute()
      }),

    /** Newest first; of one user, or of all when `user` is null. */
    page(
      user: string | null,
      action: AuditAction | undefined,
      below: string | null,
      limit: number,
    ): Promise<AuditEntry[]> {
      let query = db.selectFrom('audit_entry').select([...closed])
      if (user !== null) query = query.where('user_id', '=', user)
      if (action !== undefined) query = query.where('action', '=', action)
      if (below !== null) query = query.where('id', '<', below)
      return query.orderBy('id', 'desc').limit(limit).execute()
    },

    /** Where the chains end; of one, or of all when `chain` is null. */
    ends(chain: string | null): Promise<ChainRow[]> {
      const query = db.selectFrom('audit_chain').selectAll().orderBy('chain')
      return (chain === null ? query : query.where('chain', '=', chain)).execute()
    },

    /** Whether it is as it was written. */
    isWhole: (row: Linked): boolean => row.hash.equals(hashOf(key, row, row)),

    /** In the order in which they were written. */
    links: (chain: string, after: number, limit: number): Promise<Linked[]> =>
      db
        .selectFrom('audit_entry')
        .selectAll()
        .where('chain', '=', chain)
        .where('chain_seq', '>', after)
        .orderBy('chain_seq')
        .limit(limit)
        .execute(),

    /** What is older than an entry is kept for. */
    async forget(): Promise<void> {
      await database.rows(sql`
        with gone as (delete from audit_entry where at < now() - interval '400 days' returning chain, chain_seq)
        update audit_chain set first_seq = greatest(first_seq, last + 1)
        from (select chain, max(chain_seq) as last from gone group by chain) as old
        where old.chain = audit_chain.chain`)
    },
  }
}
