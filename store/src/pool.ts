import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type pg from 'pg'
import { breaksConnection, failure } from './failure.ts'

/** pg's pool as Kysely takes it: errors are told as ours, and a connection that broke is not given out again. */
export function guarded(pool: pg.Pool): PostgresPool {
  const known = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect().catch(rethrow)
      // The same object for the same connection: Kysely keeps its own record of each.
      let ours = known.get(client)
      if (!ours) known.set(client, (ours = guardedClient(client)))
      return ours
    },
  }
}

function guardedClient(client: pg.PoolClient): PostgresPoolClient {
  let broken = false
  const query = async (text: string, values: readonly unknown[]): Promise<unknown> => {
    try {
      return await client.query(text, [...values])
    } catch (error) {
      broken ||= breaksConnection(error)
      throw failure(error)
    }
  }
  // A lost connection also emits an error while it is lent out; the query in hand reports it.
  client.on('error', () => (broken = true))
  return {
    // Cursors are not used here, so of Kysely's two forms only the first is given.
    query: query as <R>(sql: string, parameters: readonly unknown[]) => Promise<PostgresQueryResult<R>>,
    release: (destroy) => client.release(destroy || broken),
  } as PostgresPoolClient
}

function rethrow(error: unknown): never {
  throw failure(error)
}
