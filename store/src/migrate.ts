import { type Kysely, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { Database } from './database.ts'

/** One step forward. Must hold its locks for at most a second, since other replicas go on working meanwhile. */
export interface Migration {
  up(db: Kysely<unknown>): Promise<void>
}

/** Any number; the same for every replica. */
const lockId = 7_210_448_003
const waitMs = 60_000

/**
 * Brings the schema up to the newest of `migrations` (run in the order of their names). Any number of replicas may call it
 * at once: one works, the others wait up to a minute. Rejects when the schema is newer than this code.
 */
export async function migrate(database: Database, migrations: Record<string, Migration>): Promise<void> {
  await database
    .withTables<unknown>()
    .connection()
    .execute(async (db) => {
      await lock(db)
      try {
        // A migration may take longer than a request may.
        await sql`set statement_timeout = 0`.execute(db)
        await refuseNewer(db, migrations)
        const { error } = await new Migrator({
          db,
          provider: { getMigrations: async () => migrations },
        }).migrateToLatest()
        if (error) throw error
      } finally {
        await sql`reset statement_timeout`.execute(db)
        await sql`select pg_advisory_unlock(${lockId})`.execute(db)
      }
    })
}

/** Asks again and again, so that waiting is not cut by the statement time-out. */
async function lock(db: Kysely<unknown>): Promise<void> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const { rows } = await sql<{ got: boolean }>`select pg_try_advisory_lock(${lockId}) as got`.execute(db)
    if (rows[0]?.got) return
    if (performance.now() > deadline) throw new Error('Another replica has been migrating the database for a minute.')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function refuseNewer(db: Kysely<unknown>, migrations: Record<string, Migration>): Promise<void> {
  const table = await sql<{ found: boolean }>`select to_regclass('kysely_migration') is not null as found`.execute(db)
  if (!table.rows[0]?.found) return
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  const unknown = rows.find(({ name }) => !Object.hasOwn(migrations, name))
  if (unknown)
    throw new Error(`The database has migration ${unknown.name}, which is newer than this Parley. Update Parley.`)
}
