import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { Parley } from '@parley/client/client'
import type { StartRequestInput } from '@parley/contract/start-request'
import type { Database } from '@parley/store/database'
import { openTestDatabase } from '@parley/store/testing'
import { sql } from 'kysely'
import { migrations } from '../../server/src/migrations/migrations.ts'
import { begin, eventsOf, ofKind, openHouse, says, text, until } from '../tools/house.ts'
import { openProgram } from '../tools/program.ts'

/*
 * A request under an idempotency key whose server dies between what it does and the record that it was done: made again, it
 * does nothing twice.
 */

const headers = { 'idempotency-key': 'the-same' }

/** What happens where the answer of a call is recorded. */
const fault = async (database: Database, what: string) => {
  await database.rows(
    sql.raw(`create or replace function answer_fault() returns trigger language plpgsql as $$
    begin if new.status is null then return new; end if; ${what} end $$`),
  )
  await database.rows(
    sql.raw(`create or replace trigger answer_fault before update on idempotent_answer
    for each row execute function answer_fault()`),
  )
}
const lost = (database: Database) => fault(database, 'return null;')
const refused = (database: Database) => fault(database, `raise exception 'the disk is gone';`)
/** The server is back, and a minute has passed. */
async function recovered(database: Database): Promise<void> {
  await database.rows(sql`drop trigger answer_fault on idempotent_answer`)
  await database.rows(sql`update idempotent_answer set created_at = now() - interval '61 seconds' where status is null`)
}

/** The answers of a call before and after the death of its server. */
async function twice<T>(database: Database, call: () => Promise<T>): Promise<[T, T]> {
  await lost(database)
  const first = await call()
  await recovered(database)
  return [first, await call()]
}

test('what cannot be recorded is not done, and is done once when it is asked for again', async () => {
  await using house = await openHouse({ scripts: {} })
  const { ada, server } = house
  const { database } = server.server
  const calls: [string, () => Promise<unknown>, () => Promise<number>][] = [
    ['key', () => ada.keys.create({ body: {}, headers }), async () => (await ada.keys.list()).length],
    [
      'secret',
      () => ada.secrets.create({ body: { name: 'ONE', value: 'x' }, headers }),
      async () => (await ada.secrets.list()).custom_secrets.length,
    ],
    [
      'audit entry',
      () => ada.keys.create({ body: {}, headers: { 'idempotency-key': 'another' } }),
      async () => (await ada.audit.search({ query: { action__eq: 'key.create' } })).items.filter(isOk).length,
    ],
    [
      'subscription',
      () =>
        ada.webhookSubscriptions.create({
          body: { url: 'https://example.org/hook', types: ['conversation.started'] },
          headers,
        }),
      async () => (await ada.webhookSubscriptions.search()).items.length,
    ],
  ]
  for (const [what, call, count] of calls) {
    const before = await count()
    await refused(database)
    await assert.rejects(call(), { code: 'internal_error' }, what)
    assert.equal(await count(), before, what)
    await recovered(database)
    const answer = await call()
    assert.equal(await count(), before + 1, what)
    assert.deepEqual(await call(), answer, what)
  }
})

const isOk = ({ outcome }: { outcome: string }) => outcome === 'ok'

test('a start, a sandbox, a message and a fork are made once, also when their record is lost', async () => {
  await using house = await openHouse({ scripts: { plain: { turns: [{ text: 'Done.' }] } } })
  const { ada, server } = house
  const { database } = server.server
  const request = says('[[script:plain]] Hello.')

  const [task, again] = await twice(database, () => ada.conversations.start({ body: request, headers }))
  assert.equal(again.id, task.id)
  const [old, v0] = await twice(database, () => ada.v0.start({ body: { initial_user_msg: 'Hello.' }, headers }))
  assert.equal(v0.conversation_id, old.conversation_id)
  const streamed = () => firstOf(ada, request)
  const [element, once] = await twice(database, streamed)
  assert.equal(once, element)
  assert.equal(await ada.startTasks.count(), 3)

  const [sandbox, same] = await twice(database, () => ada.sandboxes.create({ headers }))
  assert.equal(same.id, sandbox.id)

  const id = await begin(ada, request)
  const note = { role: 'user' as const, content: text('Once.'), run: false }
  const [sent, resent] = await twice(database, () => ada.events.post({ params: { id }, body: note, headers }))
  assert.deepEqual([resent.event_id, resent.seq], [sent.event_id, sent.seq])
  const [forked, fork] = await twice(database, () => ada.conversations.fork({ params: { id }, body: {}, headers }))
  assert.equal(fork.id, forked.id)
  const said = ofKind(await eventsOf(ada, id), 'MessageEvent').filter((event) => event.source === 'user')
  assert.equal(said.length, 2)
})

/** The id of the task of a streamed start. */
async function firstOf(person: Parley, body: StartRequestInput) {
  let id = ''
  for await (const task of await person.conversations.streamStart({ body, headers })) id = task.id
  return id
}

test('a message that was queued for a start and is sent again after it is said once', async () => {
  await using house = await openHouse({
    scripts: { plain: { turns: [{ text: 'Done.' }, { text: 'Done.' }] } },
    repositories: { 'acme/slow': { files: { '.parley/setup.sh': 'sleep 2' } } },
  })
  const { ada, server } = house
  const { database } = server.server
  const request = says('[[script:plain]] Hello.', { selected_repository: 'acme/slow', git_provider: 'open_forge' })
  const task = await ada.conversations.start({ body: request })
  const id = task.request.conversation_id ?? ''
  const queue = () => ada.conversations.queueMessage({ params: { id }, body: { content: text('Queued.') }, headers })
  await lost(database)
  const first = await queue()
  await until('the start is READY', 30_000, async () => {
    const [now] = await ada.startTasks.getMany({ query: { ids: [task.id] } })
    return now?.status === 'READY'
  })
  await recovered(database)
  assert.equal((await queue()).id, first.id)
  const queued = (await eventsOf(ada, id)).filter((event) => JSON.stringify(event).includes('Queued.'))
  assert.deepEqual(
    queued.map((event) => event.id),
    [first.id],
  )
})

test('a program that is killed between a start and the record of it starts nothing twice', async () => {
  await using test = await openTestDatabase(migrations)
  const { database, connection } = test
  const { host, user, password, database: name } = connection
  const address = `postgres://${user}:${encodeURIComponent(password)}@localhost/${name}?host=${encodeURIComponent(host)}`
  const env = { DATABASE_URL: address, PARLEY_SECRET_KEY: randomBytes(32).toString('base64') }
  await using program = await openProgram({ env })
  await program.start()
  await program.client.settings.update({ body: { llm_model: 'parley/demo' } })
  const start = () => program.client.conversations.start({ body: says('Hello.'), headers })
  await fault(database, 'perform pg_sleep(60); return new;')
  const unanswered = assert.rejects(start())
  await until('the start is being recorded', 10_000, async () => {
    const asleep = await database.rows(sql`select 1 from pg_stat_activity
      where wait_event = 'PgSleep' and datname = current_database()`)
    return asleep.length > 0
  })
  await program.end('SIGKILL')
  await unanswered
  // What the dead program was waiting for goes with its connection.
  await database.rows(sql`select pg_terminate_backend(pid) from pg_stat_activity
    where wait_event = 'PgSleep' and datname = current_database()`)
  await recovered(database)
  await program.start()
  const task = await start()
  assert.equal(await program.client.startTasks.count(), 1)
  const ready = await until('the start is READY', 30_000, async () => {
    const [now] = await program.client.startTasks.getMany({ query: { ids: [task.id] } })
    return now?.status === 'READY' && now
  })
  assert.equal(await program.client.conversations.count(), 1)
  assert.equal(ready.app_conversation_id, task.request.conversation_id)
})
