import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { follow } from '@parley/client/follow'
import { api } from '@parley/contract/api'
import { openTestDatabase } from '@parley/store/testing'
import { makeKey } from '../../server/src/access/key-format.ts'
import { migrations } from '../../server/src/migrations/migrations.ts'
import { begin, eventsOf, ofKind, rest, runs, say, says, scriptOf, until, useModel } from '../tools/house.ts'
import { openProgram, type Program } from '../tools/program.ts'
import { openScriptedLlm } from '../tools/scripted-llm.ts'

/* Two programs on one database, each with a data folder of its own: it does not matter which of them is asked. */

const stack = new AsyncDisposableStack()
after(() => stack.disposeAsync())
const llm = stack.use(
  await openScriptedLlm(
    scriptOf({
      plain: { turns: [{ text: 'Done.' }] },
      frozen: { turns: [{ text: 'Only once.', hold: 'frozen' }] },
      held: { turns: [runs('echo one', { hold: 'held' }), { text: 'Seen.', expect: 'From the other side' }] },
    }),
  ),
)
const database = stack.use(await openTestDatabase(migrations))
const { host, user, password, database: name } = database.connection
const address = `postgres://${user}:${encodeURIComponent(String(password))}@localhost/${name}?host=${encodeURIComponent(String(host))}`
const key = makeKey('prl')
const env = {
  DATABASE_URL: address,
  PARLEY_SECRET_KEY: randomBytes(32).toString('base64'),
  PARLEY_PRIVATE_HOSTS: new URL(llm.url).host,
}
const [a, b] = [stack.use(await openProgram({ env, key })), stack.use(await openProgram({ env, key }))]
await a.start()
await b.start()
await useModel(a.client, llm.url)

test('a conversation that was started at one server is followed at the other, without gap or duplicate', async () => {
  const id = await begin(a.client, says('[[script:plain]] Hello.'))
  const seen: number[] = []
  const signal = AbortSignal.timeout(20_000)
  for await (const event of follow(b.client, id, { signal })) {
    seen.push(event.seq ?? 0)
    if (event['key'] === 'execution_status' && event['value'] === 'finished') break
  }
  assert.deepEqual(
    seen,
    (await eventsOf(a.client, id)).map((event) => event.seq),
  )
})

test('a message that is sent to the other server reaches the run that is under way', async () => {
  const id = await begin(a.client, says('[[script:held]] Work.'))
  await until(
    'the run is under way',
    10_000,
    async () => (await a.client.conversations.get({ params: { id } })).execution_status === 'running',
  )
  await say(b.client, id, 'From the other side.')
  await llm.release('held')
  assert.equal((await rest(a.client, id)).status, 'finished')
  assert.ok(!(await llm.log()).summary.expectFailed, 'the model was not told')
})

test('starts of one conversation at both servers at once make one', async () => {
  for (let race = 0; race < 10; race += 1) {
    const conversation_id = crypto.randomUUID()
    const both = [a, b, a, b].map(({ client }) => client.conversations.start({ body: { conversation_id } }))
    assert.equal(new Set((await Promise.all(both)).map((task) => task.id)).size, 1)
  }
})

test('messages to both servers at once are numbered without gap, and each is there once', async () => {
  const id = await begin(a.client, {})
  const sent = Array.from({ length: 30 }, (_, n) => say(n % 2 === 0 ? a.client : b.client, id, `note ${n}`, false))
  const numbers = (await Promise.all(sent)).toSorted((x, y) => x - y)
  const events = await eventsOf(b.client, id)
  assert.deepEqual(
    events.map((event) => event.seq),
    events.map((_, index) => index + 1),
  )
  assert.deepEqual(
    ofKind(events, 'MessageEvent').map((event) => event.seq),
    numbers,
  )
})

/** The server that holds a conversation's sandbox does its work. */
const holds = ({ dataDir }: Program, sandboxId: string): boolean => existsSync(join(dataDir, 'sandboxes', sandboxId))

test('a server that stood still while the other took over its work writes nothing more to it', async () => {
  const id = await begin(a.client, says('[[conv:frozen]] [[script:frozen]] Think.'))
  const running = async () => (await a.client.conversations.get({ params: { id } })).execution_status === 'running'
  await until('the run is under way', 10_000, running)
  const standing = ofKind(await eventsOf(a.client, id), 'ConversationStateUpdateEvent').length
  const { sandbox_id } = await a.client.conversations.get({ params: { id } })
  assert.ok(sandbox_id)
  const [working, other] = holds(a, sandbox_id) ? [a, b] : [b, a]
  working.freeze(true)
  try {
    await until(
      'the other server has taken over',
      30_000,
      async () => ofKind(await eventsOf(other.client, id), 'ConversationStateUpdateEvent').length > standing,
    )
    await llm.release('frozen')
    assert.equal((await rest(other.client, id)).status, 'finished')
  } finally {
    working.freeze(false)
  }
  const said = await say(working.client, id, '[[script:plain]] And now?')
  assert.equal((await rest(working.client, id, said)).status, 'finished')
  const events = await eventsOf(working.client, id)
  const answers = ofKind(events, 'MessageEvent').filter((event) => JSON.stringify(event).includes('Only once.'))
  assert.equal(answers.length, 1)
  assert.deepEqual(
    events.map((event) => event.seq),
    events.map((_, index) => index + 1),
  )
})

test('a key that is revoked at one server is refused at the other', async () => {
  const made = await a.client.keys.create({ body: { name: 'short' } })
  const headers = { authorization: `Bearer ${made.key}` }
  await b.client.call(api.keys.current, { headers })
  await a.client.keys.delete({ params: { id: made.id } })
  await until('the other server refuses it', 5_000, () =>
    b.client.call(api.keys.current, { headers }).then(
      () => false,
      (error: { code: string }) => error.code === 'authentication_error',
    ),
  )
})
