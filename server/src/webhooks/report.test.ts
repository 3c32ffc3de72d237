import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { deleteConversation, getConversation, updateConversation } from '@parley/contract/conversations'
import { searchEvents } from '@parley/contract/event-calls'
import { createSandbox, getSandbox } from '@parley/contract/sandboxes'
import { createSecret } from '@parley/contract/secrets'
import { reportConversation, reportEvents } from '@parley/contract/webhooks'
import { caller } from '@parley/wire/call'
import { sql } from 'kysely'
import { openTestServer } from '../testing.ts'
import { soon } from './testing.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())
const ada = await server.as('ada')
const bob = await server.as('bob')

const info = (id: string, more: object = {}) => ({
  id,
  workspace: { working_dir: '/workspace/project' },
  agent: { llm: { model: 'openai/gpt-5' } },
  ...more,
})
const said = (words: string, more: object = {}) => ({
  id: randomUUID(),
  source: 'user' as const,
  kind: 'MessageEvent',
  llm_message: { role: 'user', content: [{ type: 'text', text: words }] },
  ...more,
})
const status = (value: string, timestamp: string) => ({
  id: randomUUID(),
  source: 'environment' as const,
  kind: 'ConversationStateUpdateEvent',
  key: 'execution_status',
  value,
  timestamp,
})
const stats = (cost: number, usage = 'agent') => ({ usage_to_metrics: { [usage]: { accumulated_cost: cost } } })
const get = (id: string, as = ada) => as(getConversation, { params: { id } })
const eventsOf = async (id: string) => (await ada(searchEvents, { params: { id } })).items
const report = (id: string, more: object = {}, as = ada) => as(reportConversation, { body: info(id, more) })
const tell = (id: string, events: object[], as = ada) =>
  as(reportEvents, { params: { conversation_id: id }, body: events as never })
/** The view shows a status only while a sandbox runs. */
const statusOf = async (id: string) =>
  (
    await server.server.database.rows(
      sql<{ execution_status: string }>`select execution_status from conversation_head where conversation_id = ${id}`,
    )
  )[0]?.execution_status

test('a conversation that was never heard of belongs to who reports it first', async () => {
  const id = randomUUID()
  assert.deepEqual(await report(id, { tags: { team: 'parsers' }, title: 'Broken parser' }), { success: true })
  const made = await get(id)
  assert.deepEqual([made.title, made.llm_model, made.tags], ['Broken parser', 'openai/gpt-5', { team: 'parsers' }])
  await assert.rejects(get(id, bob), { code: 'not_found' })
  await assert.rejects(report(id, {}, bob), { code: 'not_found' })
  await assert.rejects(tell(id, [said('Mine now.')], bob), { code: 'not_found' })
  assert.deepEqual(await eventsOf(id), [])
})

test('a later report keeps what people have set, and only adds what it owns', async () => {
  const id = randomUUID()
  await report(id, { title: 'First', tags: { one: '1', two: '2' } })
  await ada(updateConversation, { params: { id }, body: { title: 'Mine', public: true } })
  const before = await get(id)
  await report(id, { title: 'Second', tags: { two: 'b', automationid: 'x' }, created_at: '2020-01-01T00:00:00Z' })
  const now = await get(id)
  assert.deepEqual([now.title, now.public, now.created_at], ['Mine', true, before.created_at])
  assert.deepEqual(now.tags, { one: '1', two: 'b', automationid: 'x' })
  assert.equal(now.trigger, 'automation')
})

test('totals never go down, and all kinds of use are added', async () => {
  const id = randomUUID()
  await report(id, { stats: stats(2) })
  await report(id, { stats: stats(1) })
  await tell(id, [{ ...status('running', '2026-01-01T00:00:00Z'), key: 'stats', value: stats(0.5, 'condenser') }])
  assert.equal((await get(id)).metrics?.accumulated_cost, 2.5)
})

test('events are stored once under their ids, numbered by us, with their own times', async () => {
  const id = randomUUID()
  const [one, two] = [
    said('One.', { timestamp: '2026-11-21T10:00:00+02:00', seq: 900, parent_id: 7 }),
    said('Two.', { timestamp: '2026-11-21T07:59:00.5' }),
  ]
  await tell(id, [one, one])
  await tell(id, [two, one])
  const events = await eventsOf(id)
  assert.deepEqual(
    events.map((event) => [event.seq, event.id, event.timestamp]),
    [
      [1, one.id, '2026-11-21T08:00:00.000Z'],
      [2, two.id, '2026-11-21T07:59:00.500Z'],
    ],
  )
})

test('kinds and fields that nobody here knows are kept as they came', async () => {
  const id = randomUUID()
  const news = { id: randomUUID(), source: 'agent', kind: 'FutureEvent', depth: { more: [1, null, 'x'] } }
  await tell(id, [news])
  const [event] = await eventsOf(id)
  assert.deepEqual([event?.kind, event?.depth], ['FutureEvent', { more: [1, null, 'x'] }])
  await assert.rejects(tell(id, [{ ...news, id: randomUUID(), kind: 'A\nB' }]), { code: 'validation_error' })
})

test('of statuses that come in any order the newest counts', async () => {
  const id = randomUUID()
  await tell(id, [status('finished', '2026-11-01T00:00:02Z'), status('running', '2026-11-01T00:00:01Z')])
  assert.equal(await statusOf(id), 'finished')
  await tell(id, [status('running', '2026-11-01T00:00:01.500Z')])
  assert.equal(await statusOf(id), 'finished')
  await report(id, { execution_status: 'idle', updated_at: '2026-11-01T00:00:00Z' })
  assert.equal(await statusOf(id), 'finished')
  await report(id, { execution_status: 'error', updated_at: '2026-11-01T00:00:03Z' })
  assert.equal(await statusOf(id), 'error')
})

test('a late report does not bring a deleted conversation back', async () => {
  const id = randomUUID()
  await report(id)
  await ada(deleteConversation, { params: { id } })
  await assert.rejects(report(id), { code: 'gone' })
  await assert.rejects(tell(id, [said('Late.')]), { code: 'gone' })
  await assert.rejects(tell(id, []), { code: 'gone' })
  await assert.rejects(tell(id, [], bob), { code: 'not_found' })
  await assert.rejects(report(id, {}, bob), { code: 'not_found' })
  await assert.rejects(get(id), { code: 'not_found' })
})

test('an empty batch is taken for what is there, and makes nothing', async () => {
  const id = randomUUID()
  assert.deepEqual(await tell(id, []), { success: true })
  await assert.rejects(get(id), { code: 'not_found' })
  await report(id)
  assert.deepEqual(await tell(id, []), { success: true })
  await assert.rejects(tell(id, [], bob), { code: 'not_found' })
})

test('a batch of which one event cannot be stored is not stored at all', async () => {
  const id = randomUUID()
  await tell(id, [said('Good.')])
  await assert.rejects(tell(id, [said('Also good.'), { ...said('x'), kind: 'A\nB' }]), { code: 'validation_error' })
  assert.equal((await eventsOf(id)).length, 1)
})

test('what cannot be stored is not answered well, and is stored when it is sent again', async () => {
  const id = randomUUID()
  await report(id)
  const event = said('Stored in the end.')
  await server.server.database.rows(sql`alter table event rename to away`)
  await assert.rejects(tell(id, [event, status('running', '2026-01-01T00:00:00Z')]), { code: 'internal_error' })
  await server.server.database.rows(sql`alter table away rename to event`)
  assert.equal(await statusOf(id), 'idle')
  await tell(id, [event])
  assert.deepEqual(
    (await eventsOf(id)).map((one) => [one.seq, one.id]),
    [[1, event.id]],
  )
})

test('batches at the same time are numbered without gaps, and what is in both is stored once', async () => {
  const id = randomUUID()
  const shared = said('Shared.')
  await Promise.all(Array.from({ length: 8 }, (_, n) => tell(id, [said(`Only ${n}.`), shared])))
  const events = await eventsOf(id)
  assert.deepEqual(
    events.map((event) => event.seq),
    Array.from({ length: 9 }, (_, n) => n + 1),
  )
  assert.equal(events.filter((event) => event.id === shared.id).length, 1)
})

test('secrets of the owner are hidden in what is reported', async () => {
  const id = randomUUID()
  await ada(createSecret, { body: { name: 'DEPLOY_TOKEN', value: 'hunter2-hunter2' } })
  await tell(id, [said('The token is hunter2-hunter2.')])
  assert.ok(!JSON.stringify(await eventsOf(id)).includes('hunter2'))
})

test('the first message gives a reported conversation its title, and one that was given stays', async () => {
  const [id, named] = [randomUUID(), randomUUID()]
  await tell(id, [said('# Make the **parser** faster\nIt is slow.')])
  assert.equal(
    await soon('a title', async () => [(await get(id)).title].find((title) => !title?.startsWith('Conv'))),
    'Make the parser faster',
  )
  await report(named, { title: 'Given' })
  await tell(named, [said('Something else')])
  const read = () =>
    server.server.database.rows(sql`select 1 from log_reader where conversation_id = ${named} and not active`)
  await soon('it was read', async () => (await read()).length > 0)
  assert.equal((await get(named)).title, 'Given')
})

test('a sandbox reports only what is its own, and cannot steer what Parley runs in it', async () => {
  const sandbox = await ada(createSandbox, {})
  const key = sandbox.session_api_key ?? ''
  await soon('it runs', async () => (await ada(getSandbox, { params: { id: sandbox.id } })).status === 'RUNNING')
  const inside = caller({ baseUrl: server.url, key })
  const [own, foreign, ours] = [randomUUID(), randomUUID(), randomUUID()]
  await report(own, {}, inside)
  assert.equal((await get(own)).sandbox_id, sandbox.id)
  await report(foreign)
  await assert.rejects(report(foreign, {}, inside), { code: 'not_found' })
  await report(ours, {}, inside)
  await server.server.database.rows(sql`update conversation_report set made = false where conversation_id = ${ours}`)
  await assert.rejects(tell(ours, [said('Accept it all.')], inside), { code: 'state_conflict' })
  await tell(ours, [{ ...said('A note.'), source: 'environment', kind: 'NoticeEvent' }], inside)
  assert.equal((await eventsOf(ours)).length, 1)
  const unknown = randomUUID()
  await assert.rejects(report(unknown, {}, inside), { code: 'not_found' })
  await assert.rejects(tell(unknown, [said('Made up.')], inside), { code: 'not_found' })
  await assert.rejects(get(unknown), { code: 'not_found' })
  await assert.rejects(get(own, inside), (error: { code?: string }) => error.code !== undefined)
})
