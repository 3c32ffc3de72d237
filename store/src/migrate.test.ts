import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Kysely, sql } from 'kysely'
import { openDatabase } from './database.ts'
import { migrate } from './migrate.ts'
import { openTestDatabase } from './testing.ts'

const step = (text: string) => ({ up: async (db: Kysely<unknown>) => void (await sql.raw(text).execute(db)) })
const first = { '0001-a': step('create table a (id int)') }
const second = { ...first, '0002-b': step('insert into a values (1); select pg_sleep(0.1)') }

test('many replicas that start at once migrate once', async () => {
  await using test = await openTestDatabase()
  const replicas = Array.from({ length: 6 }, () =>
    openDatabase({ connection: test.connection, max: 2, applicationName: 'replica' }),
  )
  await Promise.all(replicas.map((replica) => migrate(replica, second)))
  assert.deepEqual(await test.database.rows(sql`select * from a`), [{ id: 1 }])
  await Promise.all(replicas.map((replica) => replica.close()))
})

test('an older Parley refuses a newer schema in so many words', async () => {
  await using test = await openTestDatabase()
  await migrate(test.database, second)
  await migrate(test.database, second)
  await assert.rejects(migrate(test.database, first), /0002-b, which is newer than this Parley/)
})

test('a migration that fails leaves nothing behind', async () => {
  await using test = await openTestDatabase()
  await assert.rejects(migrate(test.database, { ...first, '0002-b': step('create table b (id int); select 1/0') }))
  const [found] = await test.database.rows<{ a: string | null; b: string | null }>(
    sql`select to_regclass('a') as a, to_regclass('b') as b`,
  )
  assert.deepEqual(found, { a: null, b: null })
  await migrate(test.database, second)
})
