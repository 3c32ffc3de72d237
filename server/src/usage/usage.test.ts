import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getUsage } from '@parley/contract/usage'
import { sql } from 'kysely'
import { openTestServer, type TestServer } from '../testing.ts'

const day = 86_400_000
let count = 0
const id = () => `0199f3c2-7a10-7c3e-9a51-${String((count += 1)).padStart(12, '0')}`

/** A conversation of the person whose log gets a call of a model for each entry: model, cost, how many days ago. */
async function conversation({ server }: TestServer, owner: string, calls: [string, number | null, number][]) {
  const own = id()
  await server.database.rows(sql`insert into conversation (id, owner_id, title, working_dir)
    values (${own}, ${owner}, ${`Talk ${own}`}, '/workspace')`)
  await server.database.rows(sql`insert into conversation_head (conversation_id) values (${own})`)
  for (const [index, [model, cost, ago]] of calls.entries()) {
    const usage = { prompt_tokens: 100, completion_tokens: 10, cache_read_tokens: 40 }
    await server.database.rows(sql`insert into event (conversation_id, seq, id, kind, source, at, body) values (${own},
      ${index + 1}, ${id()}, 'LLMCallEvent', 'agent', ${new Date(Date.now() - ago * day).toISOString()},
      ${JSON.stringify({ model, cost, usage })})`)
  }
  return own
}

async function people(server: TestServer) {
  const { users, access } = server.server
  const [ada, grace] = [await server.as('ada'), await server.as('grace')]
  const [adaId, graceId] = [await users.ensureMember('ada@example.com'), await users.ensureMember('grace@example.com')]
  const { id: owner } = await users.ensureOwner()
  const { key } = await access.createKey(owner, { name: 'owner' })
  return { ada, grace, adaId, graceId, owner: { headers: { authorization: `Bearer ${key}` } } }
}

test('what models have cost is added up by day, by model and by conversation', async () => {
  await using server = await openTestServer()
  const { ada, adaId } = await people(server)
  const dear = await conversation(server, adaId, [
    ['a/one', 2, 0],
    ['a/one', 1, 1],
    ['b/two', 0.5, 1],
  ])
  const cheap = await conversation(server, adaId, [
    ['b/two', null, 2],
    ['b/two', 9, 40],
  ])
  const used = await ada(getUsage, { query: { days: 7 } })
  assert.deepEqual(used.total, {
    calls: 4,
    cost: 3.5,
    prompt_tokens: 400,
    completion_tokens: 40,
    cache_read_tokens: 160,
  })
  assert.deepEqual(
    used.days.map(({ cost }) => cost),
    [0, 0, 0, 0, 0, 1.5, 2],
  )
  assert.equal(used.days.at(-1)?.day, new Date().toISOString().slice(0, 10))
  assert.deepEqual(
    used.models.map(({ model, cost }) => [model, cost]),
    [
      ['a/one', 3],
      ['b/two', 0.5],
    ],
  )
  assert.deepEqual(
    used.conversations.map(({ conversation_id, title }) => [conversation_id, title]),
    [
      [dear, `Talk ${dear}`],
      [cheap, `Talk ${cheap}`],
    ],
  )
})

test('a copy of events costs nothing, and what a deleted conversation has cost still counts', async () => {
  await using server = await openTestServer()
  const { ada, adaId } = await people(server)
  const one = await conversation(server, adaId, [['a/one', 2, 0]])
  const copy = await conversation(server, adaId, [])
  const rows = server.server.database
  await rows.rows(sql`insert into event (conversation_id, seq, id, kind, source, at, body)
    select ${copy}, seq, id, kind, source, at, body from event where conversation_id = ${one}`)
  await rows.rows(sql`delete from conversation where id = ${one}`)
  const used = await ada(getUsage, { query: {} })
  assert.equal(used.total.cost, 2)
  assert.deepEqual(
    used.conversations.map(({ title }) => title),
    [null],
  )
})

test('each sees their own; the owner of the server sees what everyone has used, person by person', async () => {
  await using server = await openTestServer()
  const { ada, grace, adaId, graceId, owner } = await people(server)
  await conversation(server, adaId, [['a/one', 2, 0]])
  await conversation(server, graceId, [['a/one', 5, 0]])
  assert.equal((await grace(getUsage, { query: {} })).total.cost, 5)
  await assert.rejects(ada(getUsage, { query: { everyone: 'true' } }), { code: 'insufficient_scope' })
  const all = await ada(getUsage, { query: { everyone: 'true' }, ...owner })
  assert.equal(all.total.cost, 7)
  assert.deepEqual(
    all.people.map(({ user_id, cost }) => [user_id, cost]),
    [
      [graceId, 5],
      [adaId, 2],
    ],
  )
})

test('a reporter that sends no numbers breaks nothing', async () => {
  await using server = await openTestServer()
  const { ada, adaId } = await people(server)
  await conversation(server, adaId, [['', 'much' as unknown as number, 0]])
  const used = await ada(getUsage, { query: {} })
  assert.deepEqual([used.total.calls, used.total.cost, used.models[0]?.model], [1, 0, 'unknown'])
})
