import { Kysely, PostgresDialect, type RawBuilder, sql } from 'kysely'
import pg from 'pg'
import { type Connection, clientConfig } from './connection.ts'
import { failure } from './failure.ts'
import { type Listening, listening } from './listen.ts'
import { guarded } from './pool.ts'
import { type Units, unitsOf } from './unit.ts'

/*
 * One PostgreSQL, seen as one object. Stores take a `Database` and do not know whether it is the pool or a transaction:
 * `transaction` hands out an object of the same shape, and one inside another is the same transaction.
 * synchronous_commit stays at the server's `on`: what a caller is told is committed.
 */

export type { Connection } from './connection.ts'

export interface Database {
  /** The query builder, typed with the tables that the caller owns. */
  withTables<T>(): Kysely<T>
  /** Raw SQL with the rows' type: `database.rows(sql<{ n: number }>`select 1 as n`)`. */
  rows<T>(statement: RawBuilder<T>): Promise<T[]>
  /** Commits what `work` did when it returns, takes it back when it throws. Inside a transaction it joins that one. */
  transaction<R>(work: (tx: Database) => Promise<R>): Promise<R>
  /**
   * As `transaction`, for work that is spread over several stores: everything that is done with this database while `work`
   * runs is in it. A transaction inside is a savepoint of it. It begins with the first statement.
   */
  atOnce<R>(work: () => Promise<R>): Promise<R>
  /** Runs `work` outside the `atOnce` around: it stays when that is taken back. */
  apart<R>(work: () => R): R
  /** Runs `fn` after the commit, or at once outside a transaction. Never runs after a rollback. `fn` must not throw. */
  afterCommit(fn: () => void): void
  /** Runs `fn` when the `atOnce` around has been taken back, or at once outside one. Must not throw. */
  afterRollback(fn: () => Promise<void>): Promise<void>
  /** Resolves when the database answers; rejects with `unavailable`. */
  ping(): Promise<void>
  /** Hears NOTIFY on a connection of its own, which comes back by itself when it is lost. */
  listen(channel: string, hear: Listening): () => Promise<void>
  /** Closes every connection. Of a transaction: refused. */
  close(): Promise<void>
}

export interface DatabaseOptions {
  connection: Connection
  /** Connections at most; a caller that gets none within 2 s gets `unavailable`. */
  max: number
  /** Shown in pg_stat_activity. */
  applicationName: string
}

/** Opens a pool; connects when first used. */
export function openDatabase({ connection, max, applicationName }: DatabaseOptions): Database {
  const config = clientConfig(connection, applicationName)
  const pool = new pg.Pool({ ...config, max, idleTimeoutMillis: 30_000, allowExitOnIdle: false })
  // An idle connection that breaks is dropped by the pool; the next query opens another or reports why it cannot.
  pool.on('error', () => {})
  // Before its first query a connection can be told of its end in the very bytes that told of its beginning, and an error
  // that nobody hears would end this process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const units = unitsOf(guarded(pool))
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: units.pool }) })
  const stops = new Set<() => Promise<void>>()
  return {
    ...queries(kysely),
    transaction: (work) => transact(kysely, units, work),
    atOnce: units.within,
    apart: units.apart,
    afterCommit: (fn) => (units.around()?.afterCommit ?? now)(fn),
    afterRollback: async (fn) => (units.around()?.afterRollback ?? now)(fn),
    listen(channel, hear) {
      const stop = listening(config, channel, hear)
      stops.add(stop)
      return async () => {
        stops.delete(stop)
        await stop()
      }
    },
    async close() {
      await Promise.all([...stops].map((stop) => stop()))
      await kysely.destroy()
    },
  }
}

/** A value for a jsonb column or parameter; without it the driver would send an array as a PostgreSQL array. */
export const json = <T>(value: T): RawBuilder<T> => sql<T>`${JSON.stringify(value)}::jsonb`

const now = <R>(fn: () => R): R => fn()

async function transact<R>(kysely: Kysely<unknown>, units: Units, work: (tx: Database) => Promise<R>): Promise<R> {
  const unit = units.around()
  const committed: (() => void)[] = []
  const attempt =
    unit === undefined
      ? kysely.transaction().execute((trx) => work(inside(trx, units, committed)))
      : saved(kysely, unit.savepoint(), () => work(inside(kysely, units, committed)))
  const result = await attempt.catch((error: unknown) => {
    throw failure(error)
  })
  for (const fn of committed) (unit?.afterCommit ?? now)(fn)
  return result
}

async function saved<R>(kysely: Kysely<unknown>, savepoint: string, work: () => Promise<R>): Promise<R> {
  await sql.raw(`savepoint ${savepoint}`).execute(kysely)
  try {
    const result = await work()
    await sql.raw(`release ${savepoint}`).execute(kysely)
    return result
  } catch (error) {
    // A connection that is lost takes everything back by itself.
    await sql
      .raw(`rollback to ${savepoint}`)
      .execute(kysely)
      .catch(() => {})
    throw error
  }
}

function inside(trx: Kysely<unknown>, units: Units, committed: (() => void)[]): Database {
  const tx: Database = {
    ...queries(trx),
    transaction: (work) => work(tx),
    atOnce: (work) => work(),
    apart: units.apart,
    afterCommit: (fn) => void committed.push(fn),
    afterRollback: () => refuse('tell of its rollback'),
    listen: () => refuse('listen'),
    close: () => refuse('close'),
  }
  return tx
}

function refuse(what: string): never {
  throw new Error(`A transaction cannot ${what}.`)
}

function queries(kysely: Kysely<unknown>): Pick<Database, 'withTables' | 'rows' | 'ping'> {
  const rows = async <T>(statement: RawBuilder<T>) => (await statement.execute(kysely)).rows
  return {
    // Only the type changes: which tables a store may name.
    withTables: <T>() => kysely as unknown as Kysely<T>,
    rows,
    ping: async () => void (await rows(sql`select 1`)),
  }
}
