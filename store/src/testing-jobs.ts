import assert from 'node:assert/strict'
import { type Kysely, sql } from 'kysely'
import { systemClock } from './clock.ts'
import { openDatabase } from './database.ts'
import { type Job, type Kind, openJobs, jobTable } from './jobs.ts'
import { openTestDatabase } from './testing.ts'
import { openWake } from './wake.ts'

/* What the tests of jobs start from. */

const migrations = {
  jobs: { up: jobTable },
  ran: {
    up: async (db: Kysely<unknown>) =>
      void (await sql`create table ran (key text, replica text, at timestamptz default now())`.execute(db)),
  },
}

/** A database with any number of replicas on it, all ended with it. */
export async function house() {
  const test = await openTestDatabase(migrations)
  const ends: (() => Promise<void>)[] = []
  return {
    ...test,
    replica(name: string, kinds: Record<string, Partial<Kind> & Pick<Kind, 'run'>>, leaseMs = 4_000) {
      const database = openDatabase({ connection: test.connection, max: 8, applicationName: name })
      const wake = openWake(database)
      const jobs = openJobs({ database, wake, clock: systemClock, replica: name, leaseMs, log: () => {} })
      for (const [kind, how] of Object.entries(kinds))
        jobs.register(kind, { attempts: 3, backoffMs: 5, concurrency: 4, ...how })
      jobs.start()
      ends.push(async () => {
        await jobs.stop(1_000)
        await wake.close()
        await database.close()
      })
      return {
        jobs,
        database,
        wake,
        spawn: (key: string, more: object = {}) =>
          database.transaction((tx) => jobs.spawn(tx, { kind: 'work', key, input: { key }, ...more })),
      }
    },
    left: () =>
      test.database.rows<{ key: string; attempt: number; last_error: string | null }>(
        sql`select key, attempt, last_error from job order by key`,
      ),
    async [Symbol.asyncDispose]() {
      await Promise.all(ends.map((end) => end()))
      await test[Symbol.asyncDispose]()
    },
  }
}

type House = Awaited<ReturnType<typeof house>>

export async function until(claim: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!(await claim())) {
    assert.ok(performance.now() < deadline, 'it did not happen within 20 s')
    await systemClock.sleep(10)
  }
}

export const empty = (here: House) => until(async () => (await here.left()).length === 0)
export const aborted = (job: Job) =>
  new Promise<never>((_, reject) => job.signal.addEventListener('abort', () => reject(job.signal.reason)))
