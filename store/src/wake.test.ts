import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Database, openDatabase } from './database.ts'
import { openTestDatabase } from './testing.ts'
import { openWake } from './wake.ts'

const entries = {
  entry: {
    up: async (db: ReturnType<Database['withTables']>) =>
      void (await sql`create table entry (topic text, n int)`.execute(db)),
  },
}

/** Two replicas on one database. */
async function pair() {
  const test = await openTestDatabase(entries)
  const other = openDatabase({ connection: test.connection, max: 5, applicationName: 'other' })
  const [here, there] = [openWake(test.database), openWake(other)]
  return {
    ...test,
    here,
    there,
    async [Symbol.asyncDispose]() {
      await Promise.all([here.close(), there.close()])
      await other.close()
      await test[Symbol.asyncDispose]()
    },
  }
}

/** Tells until it is heard, since a listener that is just being armed may miss the first. */
async function hears(tell: () => void, heard: Promise<unknown>): Promise<void> {
  const timer = setInterval(tell, 20)
  await heard.finally(() => clearInterval(timer))
}

const long = 50_000

test('a wake reaches sleepers here and on another replica, and nobody on another topic', async () => {
  await using two = await pair()
  await hears(() => two.here.tell('ready'), two.there.wait('ready', { timeoutMs: long }))
  const never = new AbortController()
  const other = two.there.wait('other', { timeoutMs: long, signal: never.signal })
  await hears(
    () => two.here.tell('a'),
    Promise.all([two.here.wait('a', { timeoutMs: long }), two.there.wait('a', { timeoutMs: long })]),
  )
  never.abort(new Error('still asleep'))
  await assert.rejects(other, /still asleep/)
})

test('a sleep ends by itself after its time', async () => {
  await using two = await pair()
  await two.here.wait('a', { timeoutMs: 10 })
})

test('of 1,000 concurrent tells on 200 topics none is lost on either replica', async () => {
  await using two = await pair()
  await hears(() => two.here.tell('ready'), two.there.wait('ready', { timeoutMs: long }))
  await hears(() => two.there.tell('ready'), two.here.wait('ready', { timeoutMs: long }))
  const done = new AbortController()
  const read = (topic: string) => async (cursor: number) => {
    const rows = await two.database.rows<{ n: number }>(
      sql`select n from entry where topic = ${topic} and n > ${cursor} order by n`,
    )
    return { rows: rows.map(({ n }) => n), cursor: rows.at(-1)?.n ?? cursor }
  }
  // The poll is far longer than the test may take: only wakes can bring the rows.
  const follow = async (wake: typeof two.here, topic: string) => {
    const seen: number[] = []
    for await (const n of wake.follow(topic, read(topic), { cursor: 0, signal: done.signal, pollMs: long })) {
      seen.push(n)
      if (seen.length === 5) return seen
    }
    return seen
  }
  const topics = Array.from({ length: 200 }, (_, i) => `topic ${i}`)
  const followers = topics.map((topic, i) => follow(i % 2 ? two.here : two.there, topic))
  const write = async (topic: string, n: number) => {
    await sleep(Math.random() * 200)
    await two.database.rows(sql`insert into entry values (${topic}, ${n})`)
    two.here.tell(topic)
  }
  // One after the other in each topic, as a log is written; all topics at once.
  const writing = topics.map(async (topic) => {
    for (const n of [1, 2, 3, 4, 5]) await write(topic, n)
  })
  await Promise.all(writing)
  for (const seen of await Promise.all(followers)) assert.deepEqual(seen, [1, 2, 3, 4, 5])
})

test('after its connection was cut a listener comes back and wakes everyone for what it may have missed', async () => {
  await using two = await pair()
  await hears(() => two.here.tell('a'), two.there.wait('a', { timeoutMs: long }))
  const missed = two.there.wait('b', { timeoutMs: long })
  await two.database.rows(sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'other'`)
  await missed
  await hears(() => two.here.tell('c'), two.there.wait('c', { timeoutMs: long }))
})

test('without any wake the poll brings the rows, and an outage of the database does not end a reader', async () => {
  await using two = await pair()
  const done = new AbortController()
  let reads = 0
  const read = async (cursor: number) => {
    reads += 1
    if (reads === 1) await two.database.rows(sql`select pg_terminate_backend(pg_backend_pid())`)
    return { rows: reads === 4 ? ['found'] : [], cursor }
  }
  for await (const row of two.here.follow('a', read, { cursor: 0, signal: done.signal, pollMs: 10 })) {
    assert.equal(row, 'found')
    done.abort()
  }
  assert.equal(reads, 4)
})

test('more topics than fit one notification all arrive', async () => {
  await using two = await pair()
  await hears(() => two.here.tell('a'), two.there.wait('a', { timeoutMs: long }))
  const topics = Array.from({ length: 8_000 }, (_, i) => `a topic with a rather long name, number ${i}`)
  const heard = Promise.all(topics.map((topic) => two.there.wait(topic, { timeoutMs: long })))
  for (const topic of topics) two.here.tell(topic)
  await heard
})

test('what is told while a reader is reading is read next', async () => {
  await using two = await pair()
  const done = new AbortController()
  let reads = 0
  const read = async (cursor: number) => {
    reads += 1
    if (reads === 1) two.here.tell('a')
    return { rows: reads === 1 ? [] : ['found'], cursor }
  }
  // Until the listener is armed, which wakes everyone and would hide a lost wake.
  await hears(() => two.there.tell('ready'), two.here.wait('ready', { timeoutMs: long }))
  const timer = setTimeout(() => done.abort(), 5_000)
  const found: string[] = []
  for await (const row of two.here.follow('a', read, { cursor: 0, signal: done.signal, pollMs: long })) {
    found.push(row)
    done.abort()
  }
  clearTimeout(timer)
  assert.deepEqual(found, ['found'])
})

test('who is alone on a database wakes its own sleepers, tells nobody else, and still hears a short errand', async () => {
  await using two = await pair()
  const alone = openWake(two.database, { alone: true })
  try {
    await hears(() => two.there.tell('ready'), alone.wait('ready', { timeoutMs: long }))
    await hears(() => two.here.tell('ready'), two.there.wait('ready', { timeoutMs: long }))
    const told: string[] = []
    two.there.on('quiet', () => told.push('quiet'))
    const mine = alone.wait('quiet', { timeoutMs: long })
    alone.tell('quiet')
    await mine
    // What comes after it on the same channel would come after it there too.
    await hears(() => two.here.tell('after'), two.there.wait('after', { timeoutMs: long }))
    assert.deepEqual(told, [])
  } finally {
    await alone.close()
  }
})
