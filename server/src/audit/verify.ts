import type { AuditBreak, AuditVerdict } from '@parley/contract/audit'
import { beginning } from './chain.ts'
import type { AuditStore, ChainRow } from './store.ts'

/* Reads the chains from their first entry that is still kept, and says where one does not hold. */

const atATime = 1_000
const mostBreaks = 100

export async function verified(store: AuditStore, chain: string | null): Promise<AuditVerdict> {
  const breaks: AuditBreak[] = []
  let entries = 0
  const ends = await store.ends(chain)
  for (const end of ends) {
    const found = await verifiedChain(store, end)
    entries += found.entries
    if (found.break !== null && breaks.length < mostBreaks) breaks.push(found.break)
  }
  return { ok: breaks.length === 0, entries, chains: ends.length, breaks }
}

async function verifiedChain(store: AuditStore, end: ChainRow): Promise<{ entries: number; break: AuditBreak | null }> {
  let seq = end.first_seq - 1
  // Of what is kept no longer the first that is kept is believed.
  let hash: Buffer | undefined = seq === 0 ? beginning : undefined
  let entries = 0
  const broken = (number: number, entry_id: string | null, what: AuditBreak['what']) => ({
    entries,
    break: { user_id: end.chain === 'nobody' ? null : end.chain, number, entry_id, what },
  })
  for (;;) {
    // Entries that are written meanwhile lie beyond the end that was read, and are the next reader's.
    const rows = (await store.links(end.chain, seq, atATime)).filter((row) => row.chain_seq <= end.last_seq)
    for (const row of rows) {
      if (row.chain_seq !== seq + 1) return broken(seq + 1, null, 'missing')
      if (!row.prev_hash.equals(hash ?? row.prev_hash) || !store.isWhole(row))
        return broken(row.chain_seq, row.id, 'changed')
      seq = row.chain_seq
      hash = row.hash
      entries += 1
    }
    if (rows.length < atATime) break
  }
  if (seq < end.last_seq) return broken(seq + 1, null, 'missing')
  return (hash ?? end.last_hash).equals(end.last_hash) ? { entries, break: null } : broken(seq, null, 'changed')
}
