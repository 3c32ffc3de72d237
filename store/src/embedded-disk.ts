import { statfs } from 'node:fs/promises'
import pg from 'pg'
import { type Connection, clientConfig } from './connection.ts'

/*
 * PostgreSQL crashes when its write-ahead log finds no room, and then cannot start until there is some. So before that, when
 * little is left, every new transaction is made read-only: writes are refused with 25006, which callers are told as
 * `storage_full`, reads go on, and what is left is enough to stop and start. Room that comes back ends it by itself.
 */

export interface DiskGuard {
  /** Looks at the disk, at most once in a second, and closes or opens the database for writes. */
  look(): Promise<void>
}

/** Enough for two segments of the log and a checkpoint beside it; on a small disk a tenth. */
const lowBytes = 96_000_000
const everyMs = 1_000

export function diskGuard(dir: string, connection: Connection, log: (message: string) => void): DiskGuard {
  let closed: boolean | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  return {
    async look() {
      if (performance.now() - lookedAt < everyMs) return
      lookedAt = performance.now()
      const { bavail, blocks, bsize } = await statfs(dir)
      const low = Math.min(lowBytes, (blocks * bsize) / 10)
      // Opened again only with some more room, so that it does not flutter.
      const shut = bavail * bsize < (closed ? low * 1.2 : low)
      if (shut === closed) return
      await allowWrites(connection, !shut)
      if (shut) log('The disk is nearly full: the database takes no more writes until there is room.')
      else if (closed) log('There is room on the disk again: the database takes writes.')
      closed = shut
    },
  }
}

async function allowWrites(connection: Connection, allowed: boolean): Promise<void> {
  const client = new pg.Client(clientConfig(connection, 'parley supervisor'))
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(
      `alter system ${allowed ? 'reset default_transaction_read_only' : 'set default_transaction_read_only = on'}`,
    )
    await client.query('select pg_reload_conf()')
  } finally {
    await client.end().catch(() => {})
  }
}
