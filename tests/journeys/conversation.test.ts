import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { begin, eventsOf, observations, ofKind, openHouse, rest, runs, say, says, text, until } from '../tools/house.ts'
import { processesNamed } from '../tools/program.ts'

/* What can be done with a conversation that is there: further messages, pausing, interrupting. */

/** Of a command that does not end by itself; nothing else on this machine sleeps so long. */
const long = '86398.291'
const house = await openHouse({
  scripts: {
    plain: { turns: [{ text: 'Done.' }] },
    held: { turns: [runs('echo one', { hold: 'held' }), { text: 'Seen.', expect: 'A second thought' }] },
    paused: { turns: [runs('echo one', { hold: 'paused' }), runs('echo two'), { text: 'Done.' }] },
    long: {
      turns: [
        runs(`echo begun; sh -c 'sleep ${long}; true' | sleep ${long}; echo ended`),
        runs('echo alive'),
        { text: 'Done.' },
      ],
    },
    thinking: { turns: [{ text: 'Never seen.', hold: 'never' }] },
    wait: { turns: [runs('until [ -e go ]; do sleep 0.1; done; echo went'), { text: 'Done.' }] },
  },
})
after(() => house[Symbol.asyncDispose]())
const { ada, llm } = house

const requests = async () => (await llm.log()).requests
const statusOf = async (id: string) => (await ada.conversations.get({ params: { id } })).execution_status
const running = (id: string) => until('the run is under way', 10_000, async () => (await statusOf(id)) === 'running')

test('a message revives a conversation that is finished, and its answer knows what was said before', async () => {
  const id = await begin(ada, says('[[script:plain]] First words.'))
  assert.equal((await rest(ada, id)).status, 'finished')
  const seq = await say(ada, id, '[[script:plain]] Second words.')
  const { status, events } = await rest(ada, id, seq)
  assert.equal(status, 'finished')
  assert.equal(ofKind(events, 'MessageEvent').filter((event) => event.source === 'agent').length, 1)
  const last = await llm.body((await requests()).at(-1)?.n ?? 0)
  assert.match(last, /First words[^]*Done\.[^]*Second words/)
  // One that is only appended leaves nobody with the thought that all is done.
  await say(ada, id, 'Third words.', false)
  assert.equal(await statusOf(id), 'idle')
})

test('a message that comes while the agent works is seen before the next call of the model', async () => {
  await llm.clear()
  const id = await begin(ada, says('[[script:held]] Work.'))
  await running(id)
  await say(ada, id, 'A second thought.')
  await llm.release('held')
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished')
  const { requests: seen, summary } = await llm.log()
  assert.equal(seen.length, 2)
  assert.ok(!summary.expectFailed, 'the second call did not have the message')
  assert.deepEqual(
    events.map((event) => event.seq),
    events.map((_, index) => index + 1),
  )
})

test('with run false a message is only appended, and a run that is asked for later sees it', async () => {
  const id = await begin(ada, {})
  await llm.clear()
  await say(ada, id, '[[script:plain]] A note.', false)
  assert.equal(await statusOf(id), 'idle')
  assert.deepEqual(ofKind(await eventsOf(ada, id), 'ActionEvent'), [])
  assert.equal((await requests()).length, 0)
  await ada.conversations.run({ params: { id } })
  assert.equal((await rest(ada, id)).status, 'finished')
  assert.match(await llm.body((await requests()).at(-1)?.n ?? 0), /A note/)
})

test('a pause ends the work after the step it is in, and a run goes on from there', async () => {
  const id = await begin(ada, says('[[script:paused]] Two steps.'))
  await running(id)
  await ada.conversations.pause({ params: { id } })
  await llm.release('paused')
  const paused = await rest(ada, id)
  assert.equal(paused.status, 'paused')
  assert.ok(observations(paused.events).length <= 1)
  await ada.conversations.run({ params: { id } })
  const { status } = await rest(ada, id, paused.events.at(-1)?.seq)
  assert.equal(status, 'finished')
  assert.deepEqual(
    observations(await eventsOf(ada, id)).map((said) => said.trim().split('\n')[0]),
    ['one', 'two'],
  )
})

test('an interrupt ends a command with all it has started, which has one result, and the next message works', async () => {
  const id = await begin(ada, says('[[script:long]] Take long.'))
  await until('the command runs', 10_000, async () => (await processesNamed(long)) === 2)
  await ada.conversations.interrupt({ params: { id } })
  const stopped = await rest(ada, id)
  assert.equal(stopped.status, 'paused')
  const [action] = ofKind(stopped.events, 'ActionEvent')
  const results = stopped.events.filter((event) => event.tool_call_id === action?.tool_call_id && event !== action)
  assert.equal(results.length, 1)
  await until('the command and what it started are gone', 10_000, async () => (await processesNamed(long)) === 0)
  const seq = await say(ada, id, 'Go on.')
  const { status, events } = await rest(ada, id, seq)
  assert.equal(status, 'finished')
  assert.match(observations(events).join(), /alive/)
})

test('an interrupt ends a call of the model', async () => {
  const id = await begin(ada, says('[[script:thinking]] Think.'))
  await running(id)
  await ada.conversations.interrupt({ params: { id } })
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'paused')
  assert.deepEqual(
    ofKind(events, 'MessageEvent').map((event) => event.source),
    ['user'],
  )
})

test('a paused sandbox stops the command in it, keeps its files, and resumes for the next message', async () => {
  const id = await begin(ada, says('[[script:wait]] Wait.'))
  await running(id)
  const { sandbox_id } = await ada.conversations.get({ params: { id } })
  const sandbox = { params: { id: sandbox_id ?? '' } }
  await until('the command runs', 10_000, async () => ofKind(await eventsOf(ada, id), 'ActionEvent').length === 1)
  const { status } = await ada.sandboxes.pause(sandbox)
  assert.equal(status, 'PAUSED')
  const paused = await rest(ada, id)
  assert.equal(paused.status, 'paused')
  const seq = await say(ada, id, '[[script:plain]] Still there?')
  assert.equal((await rest(ada, id, seq)).status, 'finished')
  // An answer that needs no sandbox does not wait for it.
  await until('the sandbox runs', 10_000, async () => (await ada.sandboxes.get(sandbox)).status === 'RUNNING')
  await assert.rejects(ada.sandboxes.resume(sandbox), { code: 'state_conflict', status: 409 })
})

test('a message to a conversation whose sandbox is gone says so, and its log stays readable', async () => {
  const id = await begin(ada, says('[[script:plain]] Hello.'))
  await rest(ada, id)
  const { sandbox_id } = await ada.conversations.get({ params: { id } })
  await ada.sandboxes.delete({ params: { id: sandbox_id ?? '' } })
  await assert.rejects(say(ada, id, 'Anybody?'), { code: 'gone', status: 410 })
  assert.ok((await eventsOf(ada, id)).length > 0)
  assert.equal((await ada.conversations.get({ params: { id } })).sandbox_status, 'MISSING')
})

test('messages that are queued before a start is over are worked on in their order', async () => {
  const task = await ada.conversations.start({ body: says('[[script:plain]] First.') })
  for (const words of ['Second.', 'Third.'])
    await ada.conversations.queueMessage({ params: { id: `task-${task.id}` }, body: { content: text(words) } })
  const id = task.request.conversation_id ?? ''
  await until(
    'there is a conversation',
    20_000,
    async () => (await ada.conversations.getMany({ query: { ids: [id] } }))[0] ?? undefined,
  )
  await rest(ada, id)
  const own = ofKind(await eventsOf(ada, id), 'MessageEvent').filter((event) => event.source === 'user')
  const words = own.map((event) => JSON.stringify(event.llm_message).match(/First|Second|Third/)?.[0])
  assert.deepEqual(words, ['First', 'Second', 'Third'])
})

test('a conversation that is deleted is gone with its sandbox, and a message to it finds nothing', async () => {
  const id = await begin(ada, says('[[script:long]] Take long.'))
  await until('the command runs', 10_000, async () => (await processesNamed(long)) === 2)
  const { sandbox_id } = await ada.conversations.get({ params: { id } })
  await ada.conversations.delete({ params: { id } })
  await assert.rejects(ada.conversations.get({ params: { id } }), { code: 'not_found' })
  await assert.rejects(say(ada, id, 'Hello?'), { code: 'not_found' })
  await until('its processes are gone', 10_000, async () => (await processesNamed(long)) === 0)
  await until('its sandbox is gone', 10_000, async () => {
    const there = await house.server.server.driver.list()
    return there.every((one) => one.id !== sandbox_id)
  })
})
