import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Kysely, sql } from 'kysely'
import { type Database, json, openDatabase } from './database.ts'
import { openTestDatabase } from './testing.ts'

interface Tables {
  note: { id: number; body: unknown }
}

const migrations = {
  note: { up: async (db: Kysely<unknown>) => void (await make(db)) },
}
const make = (db: Kysely<unknown>) => sql`create table note (id int primary key, body jsonb)`.execute(db)

const count = async (database: Database) =>
  (await database.rows<{ n: number }>(sql`select count(*) as n from note`))[0]?.n

test('numbers, times and documents come back as the types that the rest of the house uses', async () => {
  await using test = await openTestDatabase()
  const [row] = await test.database.rows(sql`
    select 9007199254740991::int8 as whole, 1.25::numeric as part, timestamptz '2026-11-21 09:13:05.1239+02' as at,
      '{"a": [1]}'::jsonb as document, array[timestamptz '2026-01-01 00:00:00Z'] as times, ${json([1, 'two'])} as list`)
  assert.deepEqual(row, {
    whole: 9007199254740991,
    part: 1.25,
    at: '2026-11-21T07:13:05.123Z',
    document: { a: [1] },
    times: ['2026-01-01T00:00:00.000Z'],
    list: [1, 'two'],
  })
})

test('a whole number that JavaScript cannot hold is an error, not a wrong number', async () => {
  await using test = await openTestDatabase()
  await assert.rejects(test.database.rows(sql`select 9007199254740993::int8`), /beyond 2\^53/)
  await test.database.ping()
})

test('a transaction keeps all or nothing, one inside another is the same, and after-commit work waits for the commit', async () => {
  await using test = await openTestDatabase(migrations)
  const { database } = test
  const heard: string[] = []
  const insert = (tx: Database, id: number) =>
    tx
      .withTables<Tables>()
      .insertInto('note')
      .values({ id, body: json({}) })
      .execute()
  const broken = database.transaction(async (tx) => {
    await insert(tx, 1)
    tx.afterCommit(() => heard.push('never'))
    await tx.transaction((inner) => insert(inner, 2))
    throw new Error('stop')
  })
  await assert.rejects(broken, /stop/)
  assert.equal(await count(database), 0)
  await database.transaction(async (tx) => {
    await tx.transaction(async (inner) => {
      await insert(inner, 1)
      inner.afterCommit(() => heard.push('committed'))
    })
    assert.deepEqual(heard, [])
    assert.equal(await count(database), 0)
  })
  database.afterCommit(() => heard.push('at once'))
  assert.deepEqual(heard, ['committed', 'at once'])
  assert.equal(await count(database), 1)
})

test('a lost connection is told as unavailable with a time to come back, and the next query works', async () => {
  await using test = await openTestDatabase()
  const killed = test.database.rows(sql`select pg_terminate_backend(pg_backend_pid())`)
  await assert.rejects(killed, { code: 'unavailable', extra: { retryAfter: 1 } })
  await test.database.ping()
})

test('a commit on a lost connection is told as unavailable and nothing is called committed', async () => {
  await using test = await openTestDatabase(migrations)
  let committed = false
  const work = test.database.transaction(async (tx) => {
    tx.afterCommit(() => (committed = true))
    await tx.rows(sql`insert into note values (1, '{}')`)
    const [me] = await tx.rows<{ pid: number }>(sql`select pg_backend_pid() as pid`)
    await test.database.rows(sql`select pg_terminate_backend(${me?.pid})`)
  })
  await assert.rejects(work, { code: 'unavailable' })
  assert.equal(committed, false)
  assert.equal(await count(test.database), 0)
})

test('a server that is not there is told as unavailable', async () => {
  const connection = { host: '/nonexistent', user: 'a', password: 'b', database: 'c' }
  const database = openDatabase({ connection, max: 1, applicationName: 'test' })
  await assert.rejects(database.ping(), { code: 'unavailable' })
  await database.close()
})

test('a caller that gets no connection in time is told so instead of waiting for ever', async () => {
  await using test = await openTestDatabase()
  const database = openDatabase({ connection: test.connection, max: 1, applicationName: 'test' })
  await database.transaction(() => assert.rejects(database.ping(), { code: 'unavailable' }))
  await database.close()
})

test('a violated constraint stays what it is, for the store that knows what it means', async () => {
  await using test = await openTestDatabase(migrations)
  const twice = test.database.rows(sql`insert into note values (1, '{}'), (1, '{}')`)
  await assert.rejects(twice, { code: '23505' })
})

test('a full disk is told as full storage', async () => {
  await using test = await openTestDatabase()
  const full = test.database.rows(
    sql`do $$ begin raise exception 'no space left on device' using errcode = '53100'; end $$`,
  )
  await assert.rejects(full, { code: 'storage_full' })
})
