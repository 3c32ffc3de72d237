import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { type Parley, parley } from '@parley/client/client'
import type { StartRequestInput } from '@parley/contract/start-request'
import { sql } from 'kysely'
import { begin, eventsOf, ofKind, openHouse, rest, say, says, scriptOf, until } from '../../../tests/tools/house.ts'
import { processorStore } from './store.ts'
import { titleFrom } from './words.ts'

const house = await openHouse({
  scripts: { plain: { turns: [{ text: 'The parser is fixed.' }] }, held: { turns: [{ text: 'Done.', hold: 'held' }] } },
  repositories: {
    'acme/widgets': { members: { ada: 'write' }, issues: [{ number: 7, title: 'Slow', author: 'ada' }] },
  },
})
after(() => house[Symbol.asyncDispose]())
const { ada, llm, server } = house
const { database } = server.server
const store = processorStore(database)
const setTitle = { kind: 'SetTitleCallbackProcessor' as const }
const forge = (more: object = {}) => ({
  kind: 'ForgeV1CallbackProcessor' as const,
  forge_view_data: { full_repo_name: 'acme/widgets', issue_number: 7, ...more },
})
const scripts = (side: object[]) =>
  llm.setScript({
    ...scriptOf({
      plain: { turns: [{ text: 'The parser is fixed.' }] },
      held: { turns: [{ text: 'Done.', hold: 'held' }] },
    }),
    side,
  })
const titled = (text: object) => scripts([{ when: { system: 'name conversations', noTools: true }, ...text }])
const titleOf = async (id: string) => (await ada.conversations.get({ params: { id } })).title
/** What came of one kind of processor, as soon as `n` outcomes are there. */
const outcomes = (id: string, kind: string, n = 1) =>
  until(`${n} of ${kind}`, 20_000, async () => {
    const all = (await store.results(id)).filter((one) => one.kind.startsWith(kind))
    return all.length >= n && all
  })

test('a title comes from the model, its cost is counted, and the agent never sees it', async () => {
  await titled({ text: '"Fixing the **parser**"', usage: { input: 40, output: 5 } })
  await llm.clear()
  const id = await begin(ada, says('[[script:plain]] The parser is broken.', { processors: [setTitle] }))
  const [outcome] = await outcomes(id, 'SetTitle')
  assert.deepEqual([outcome?.status, outcome?.callback_status], ['SUCCESS', 'COMPLETED'])
  assert.equal(await titleOf(id), 'Fixing the parser')
  const { events } = await rest(ada, id)
  assert.equal(ofKind(events, 'LLMCallEvent').length, 1)
  assert.ok(!JSON.stringify(events).includes('Fixing the'))
  const usages = () =>
    database.rows(sql<{ metrics: Record<string, { accumulated_token_usage: { prompt_tokens: number } }> }>`
      select metrics from conversation_head where conversation_id = ${id}`)
  const metrics = await until('it is counted', 20_000, async () => {
    const row = (await usages())[0]?.metrics
    return row?.['title'] !== undefined && row
  })
  assert.ok((metrics['title']?.accumulated_token_usage.prompt_tokens ?? 0) > 0)
  const calls = await database.rows(sql<{ prompt_tokens: number; completion_tokens: number }>`
    select prompt_tokens::int, completion_tokens::int from llm_call where conversation_id = ${id} order by at`)
  assert.equal(calls.length, 2, 'the call for the title is on the bill too')
  assert.ok(calls.some((call) => call.prompt_tokens === 40 && call.completion_tokens === 5))
  await say(ada, id, '[[script:plain]] Something else.')
  await rest(ada, id, events.at(-1)?.seq)
  assert.equal(await titleOf(id), 'Fixing the parser')
  assert.equal(
    (await usages())[0]?.metrics['title']?.accumulated_token_usage.prompt_tokens,
    metrics['title']?.accumulated_token_usage.prompt_tokens,
  )
})

test('without an answer of the model the first line is the title', async () => {
  await titled({ fault: { type: 'status', status: 401, times: -1 } })
  const words = '[[script:plain]] A very long first line that goes on and on, past fifty\nsecond'
  const id = await begin(ada, says(words, { processors: [setTitle] }))
  await outcomes(id, 'SetTitle')
  const title = (await titleOf(id)) ?? ''
  assert.ok([...title].length <= 50 && title.endsWith('...') && !title.includes('second'), title)
})

test('a title that was given is kept', async () => {
  await titled({ text: 'From the model' })
  const given = await begin(ada, says('[[script:plain]] Work.', { processors: [setTitle], title: 'Mine' }))
  const [outcome] = await outcomes(given, 'SetTitle')
  assert.equal(outcome?.callback_status, 'COMPLETED')
  assert.equal(await titleOf(given), 'Mine')
})

test('the result of a finished conversation becomes one comment, with the account of its owner', async () => {
  await scripts([])
  const before = house.forge.world.comments.length
  const request = { processors: [forge(), { kind: 'LoggingCallbackProcessor' as const }] }
  const id = await begin(ada, says('[[script:plain]] Work.', request))
  const { events } = await rest(ada, id)
  const [posted] = await outcomes(id, 'Forge')
  assert.deepEqual([posted?.status, posted?.callback_status], ['SUCCESS', 'COMPLETED'])
  const [comment, ...more] = house.forge.world.comments.slice(before)
  assert.deepEqual(more, [])
  assert.deepEqual([comment?.repository, comment?.number, comment?.author], ['acme/widgets', 7, 'ada'])
  assert.match(comment?.body ?? '', /The parser is fixed/)
  await say(ada, id, '[[script:plain]] Again.')
  await rest(ada, id, events.at(-1)?.seq)
  // Logging goes on with each message, two of the user's and two of the agent's; the comment was for the first finish.
  await outcomes(id, 'Logging', 4)
  assert.equal(house.forge.world.comments.length, before + 1)
})

test('a comment that fails is an outcome of its own, and the other processors are not stopped by it', async () => {
  await titled({ text: 'A title' })
  const request = { processors: [forge({ full_repo_name: 'acme/unknown' }), setTitle] }
  const id = await begin(ada, says('[[script:plain]] Work.', request))
  const [failed] = await outcomes(id, 'Forge')
  await outcomes(id, 'SetTitle')
  assert.deepEqual([failed?.status, failed?.callback_status], ['ERROR', 'ACTIVE'])
  assert.equal(await titleOf(id), 'A title')
})

test('a comment at a forge that is not connected, or a message in a chat, is refused at the start with what is missing', async () => {
  const bob = parley({ baseUrl: server.url, key: await server.keyOf('bob') })
  const start = (person: Parley, more: StartRequestInput) => person.conversations.start({ body: says('Work.', more) })
  const refused = { code: 'processor_not_allowed', status: 403 }
  await assert.rejects(start(bob, { processors: [forge()] }), refused)
  await assert.rejects(start(ada, { processors: [forge()], git_provider: 'forge_b' }), {
    ...refused,
    message: /connect forge_b first/,
  })
  await assert.rejects(start(ada, { processors: [{ kind: 'ChatV1CallbackProcessor' }] }), refused)
  assert.equal((await bob.startTasks.search()).items.length, 0)
})

test('what was begun and not noted is not begun again', async () => {
  await scripts([])
  const before = house.forge.world.comments.length
  const id = await begin(
    ada,
    says('[[script:held]] Work.', { processors: [forge(), { kind: 'LoggingCallbackProcessor' as const }] }),
  )
  await outcomes(id, 'Logging')
  const callback = (await store.callbacks(id)).find((one) => one.processor.kind === 'ForgeV1CallbackProcessor')
  await llm.release('held')
  const { events } = await rest(ada, id)
  await outcomes(id, 'Forge')
  await outcomes(id, 'Logging', 2)
  // As after a crash between the comment and its note: the finish is claimed, and all of the log is read again.
  const finish = events.findLast((event) => event.value === 'finished')
  await database.rows(sql`delete from event_callback_result where event_callback_id = ${callback?.id}`)
  await database.rows(
    sql`update event_callback set status = 'ACTIVE', claimed_event_id = ${finish?.id} where id = ${callback?.id}`,
  )
  await database.rows(sql`update log_reader set seq = 0, active = true where conversation_id = ${id}`)
  const [again] = await outcomes(id, 'Forge')
  assert.deepEqual([again?.status, again?.event_id], ['ERROR', finish?.id])
  assert.equal(house.forge.world.comments.length, before + 1)
  assert.equal((await outcomes(id, 'Logging')).length, 2)
})

test('a conversation is given a title whether or not its start lists a processor for it', async () => {
  await titled({ text: 'From the model' })
  for (const processors of [null, [{ kind: 'LoggingCallbackProcessor' as const }]]) {
    const id = await begin(ada, says('[[script:plain]] Work.', { processors }))
    await outcomes(id, 'SetTitle')
    assert.equal(await titleOf(id), 'From the model')
  }
})

test('with a title of its own and no processors nobody reads the log', async () => {
  const id = await begin(ada, says('[[script:plain]] Work.', { title: 'Mine' }))
  await rest(ada, id)
  assert.deepEqual(await store.callbacks(id), [])
  assert.equal((await eventsOf(ada, id)).length > 0, true)
  assert.deepEqual(await database.rows(sql`select 1 from log_reader where conversation_id = ${id}`), [])
})

test('an outcome that comes when the conversation is deleted is let go', async () => {
  await titled({ text: 'A title', delayMs: 0 })
  const id = await begin(ada, says('[[script:plain]] Fix it.', { processors: [setTitle] }))
  const [outcome] = await outcomes(id, 'SetTitle')
  assert.ok(outcome)
  await ada.conversations.delete({ params: { id } })
  const late = { ...outcome, id: randomUUID(), event_id: randomUUID(), status: 'SUCCESS' as const }
  assert.equal(await store.transaction((rows) => rows.settle(id, late, 'COMPLETED', null)), false)
})

test('a title is one plain line', () => {
  assert.equal(titleFrom('<think>hm</think>\n\nTitle: "Fix `foo`"\nmore'), 'Fix foo')
  assert.equal(titleFrom('snake_case stays'), 'snake_case stays')
  assert.equal(titleFrom(' \n\u202e\n'), null)
  assert.equal([...(titleFrom('x'.repeat(80)) ?? '')].length, 50)
})

test('a title is found as fast in a message made to take long', () => {
  for (const part of ['<think>', '**a ', '`a` ', '" ']) {
    const began = performance.now()
    titleFrom(part.repeat(100_000))
    // A few milliseconds; hours if all of it were read over and over.
    assert.ok(performance.now() - began < 2_000, part)
  }
})
