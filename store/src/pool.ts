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

/** What a `begin` is answered with before the database has. */
const begun = { command: 'BEGIN', rowCount: null, rows: [] }

function guardedClient(client: pg.PoolClient): PostgresPoolClient {
  let broken = false
  let beginning: Promise<unknown> | undefined
  const query = async (text: string, values: readonly unknown[]): Promise<unknown> => {
    // It has no answer that anybody reads: it is on its way with the first statement, and fails with that.
    if (text === 'begin') {
      beginning = client.query(text)
      beginning.catch(() => {})
      return begun
    }
    try {
      const name = statementName(text)
      const [answer] = await Promise.all([
        client.query(name === undefined ? { text, values: [...values] } : { name, text, values: [...values] }),
        beginning,
      ])
      beginning = undefined
      return answer
    } catch (error) {
      beginning = undefined
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

/** So many different statements are prepared, each at most once a connection, from their third use on. */
const mostPrepared = 200
const mostCounted = 2_000
const uses = new Map<string, number>()
const names = new Map<string, string>()

/** A name for a statement that comes again and again: the server then parses and plans it once. */
function statementName(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined) return known
  if (names.size >= mostPrepared || !text.includes('$1')) return undefined
  const used = (uses.get(text) ?? 0) + 1
  if (used < 3) {
    if (uses.size >= mostCounted) uses.clear()
    uses.set(text, used)
    return undefined
  }
  const name = `parley_${names.size}`
  names.set(text, name)
  return name
}

function rethrow(error: unknown): never {
  throw failure(error)
}
