import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'
import { openTestDatabase } from './testing.ts'

const migrations = {
  note: { up: async (db: Kysely<unknown>) => void (await sql`create table note (id int primary key)`.execute(db)) },
}
const insert = (database: Database, id: number) => database.rows(sql`insert into note values (${id})`)
const ids = async (database: Database) =>
  (await database.rows(sql<{ id: number }>`select id from note order by id`)).map(({ id }) => id)

test('what is done at once is kept as a whole, whoever does it and in whatever order', async () => {
  await using test = await openTestDatabase(migrations)
  const { database } = test
  const heard: string[] = []
  await database.atOnce(async () => {
    database.afterCommit(() => heard.push(`committed`))
    await Promise.all([1, 2, 3].map((id) => insert(database, id)))
    await database.transaction((tx) => insert(tx, 4))
    assert.deepEqual(await database.apart(() => ids(database)), [])
    assert.deepEqual(heard, [])
  })
  assert.deepEqual(await ids(database), [1, 2, 3, 4])
  assert.deepEqual(heard, ['committed'])
})

test('what is done at once is taken back as a whole, but for what is done apart', async () => {
  await using test = await openTestDatabase(migrations)
  const { database } = test
  const heard: string[] = []
  const work = database.atOnce(async () => {
    await database.afterRollback(async () => {
      heard.push(`${(await ids(database)).length} left`)
    })
    database.afterCommit(() => heard.push('never'))
    await insert(database, 1)
    await database.transaction(async (tx) => {
      tx.afterCommit(() => heard.push('never'))
      await insert(tx, 2)
    })
    await database.apart(() => insert(database, 3))
    throw new Error('stop')
  })
  await assert.rejects(work, /stop/)
  assert.deepEqual(await ids(database), [3])
  assert.deepEqual(heard, ['1 left'])
})

test('a transaction that fails inside takes back its own part, and the rest goes on', async () => {
  await using test = await openTestDatabase(migrations)
  const { database } = test
  await database.atOnce(async () => {
    await insert(database, 1)
    await assert.rejects(
      database.transaction(async (tx) => {
        await insert(tx, 2)
        await insert(tx, 1)
      }),
      { code: '23505' },
    )
    await insert(database, 3)
  })
  assert.deepEqual(await ids(database), [1, 3])
})

test('a failed statement that nobody minds still takes everything back, and says so', async () => {
  await using test = await openTestDatabase(migrations)
  const { database } = test
  const work = database.atOnce(async () => {
    await insert(database, 1)
    await insert(database, 1).catch(() => {})
  })
  await assert.rejects(work, /nothing was kept/)
  assert.deepEqual(await ids(database), [])
})

test('work that asks elsewhere before it writes holds no connection meanwhile', async () => {
  await using test = await openTestDatabase(migrations)
  const { database } = test
  const gate = Promise.withResolvers<void>()
  const waiting = Array.from({ length: 30 }, (_, id) =>
    database.atOnce(async () => {
      await gate.promise
      await insert(database, id)
    }),
  )
  // More wait than there are connections.
  await insert(database, 100)
  gate.resolve()
  await Promise.all(waiting)
  assert.equal((await ids(database)).length, 31)
})

test('what is left running when the work is over takes no part in it, and can ask anew', async () => {
  await using test = await openTestDatabase(migrations)
  const { database } = test
  const gate = Promise.withResolvers<void>()
  let late: Promise<unknown> = Promise.resolve()
  await database.atOnce(async () => {
    await insert(database, 1)
    late = gate.promise.then(() => insert(database, 2))
  })
  gate.resolve()
  await late
  let kept: Promise<unknown> = Promise.resolve()
  const ended = Promise.withResolvers<void>()
  await database.atOnce(async () => {
    await insert(database, 3)
    kept = database.transaction(async (tx) => {
      await ended.promise
      await insert(tx, 4)
    })
    kept.catch(() => {})
    await Promise.resolve()
  })
  ended.resolve()
  await assert.rejects(kept, /has ended/)
  assert.deepEqual(await ids(database), [1, 2, 3])
})
