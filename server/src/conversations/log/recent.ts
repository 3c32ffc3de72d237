import type { EventRow } from './store.ts'

/*
 * The newest events of conversations that are being watched from here, as they were committed: who follows a run in this very
 * process reads them again from memory instead of from the database. What is not here, or has a gap, is read there.
 */

const mostEvents = 256
const mostBytes = 1_000_000

interface Tail {
  rows: EventRow[]
  bytes: number
  watchers: number
}

export type Recent = ReturnType<typeof recentEvents>

export function recentEvents() {
  const tails = new Map<string, Tail>()

  function cut(tail: Tail): void {
    while (tail.rows.length > mostEvents || (tail.bytes > mostBytes && tail.rows.length > 1)) {
      tail.bytes -= tail.rows.shift()?.body.length ?? 0
    }
  }

  return {
    /** Just committed, in order. Only kept while somebody watches. */
    add(conversation: string, rows: readonly EventRow[]): void {
      const tail = tails.get(conversation)
      if (tail === undefined) return
      for (const row of rows) {
        // Somebody else's event lies between: what was there before does not lead up to it.
        if (tail.rows.length > 0 && tail.rows.at(-1)?.seq !== row.seq - 1) [tail.rows, tail.bytes] = [[], 0]
        tail.rows.push(row)
        tail.bytes += row.body.length
      }
      cut(tail)
    },

    /** Everything after `seq` that is known here without a gap; undefined when that is nothing. */
    after(conversation: string, seq: number): EventRow[] | undefined {
      const rows = tails.get(conversation)?.rows ?? []
      const first = rows[0]
      if (first === undefined || first.seq > seq + 1 || (rows.at(-1)?.seq ?? 0) <= seq) return undefined
      return rows.slice(seq + 1 - first.seq)
    },

    watch(conversation: string): () => void {
      const tail = tails.get(conversation) ?? { rows: [], bytes: 0, watchers: 0 }
      tails.set(conversation, tail)
      tail.watchers += 1
      return () => {
        tail.watchers -= 1
        if (tail.watchers === 0) tails.delete(conversation)
      }
    },
  }
}
