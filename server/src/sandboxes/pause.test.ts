import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { api } from '@parley/contract/api'
import { getStartTasks, startConversation } from '@parley/contract/start-tasks'
import { sql } from 'kysely'
import { until } from '../../../tests/tools/house.ts'
import { openTestServer } from '../testing.ts'

/* What is being paused is not opened again by somebody who came a moment too late. */

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())
const { driver, database } = server.server
const ada = await server.as('ada')

async function begun(): Promise<{ id: string; sandbox: string }> {
  const task = await ada(startConversation, { body: {} })
  return until('it has begun', 20_000, async () => {
    const [now] = await ada(getStartTasks, { query: { ids: [task.id] } })
    if (now?.status !== 'READY') return undefined
    const id = now.app_conversation_id ?? ''
    return { id, sandbox: (await ada(api.conversations.get, { params: { id } })).sandbox_id ?? '' }
  })
}

const read = (id: string) => ada(api.conversations.files, { params: { id } })
const stateOf = async (sandbox: string) => (await driver.look(sandbox)).state

test('a sandbox that is at rest while its row does not say so yet stays at rest', async () => {
  const { id, sandbox } = await begun()
  await driver.pause(sandbox)
  await database.rows(sql`update sandbox set wanted = 'paused' where id = ${sandbox}`)
  await read(id).catch(() => {})
  assert.equal(await stateOf(sandbox), 'paused')
})

test('a pause waits for who began to open the sandbox before it', async () => {
  const { id, sandbox } = await begun()
  await driver.pause(sandbox)
  const { resume } = driver
  const [called, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  driver.resume = async (spec, signal) => {
    driver.resume = resume
    called.resolve()
    await go.promise
    return resume(spec, signal)
  }
  const reading = read(id)
  await Promise.race([called.promise, reading.then((answer) => assert.fail(`it was open: ${JSON.stringify(answer)}`))])
  const pausing = ada(api.sandboxes.pause, { params: { id: sandbox } })
  await Promise.race([pausing, sleep(2_000)])
  go.resolve()
  await Promise.all([pausing, reading])
  assert.equal((await ada(api.sandboxes.get, { params: { id: sandbox } })).status, 'PAUSED')
  assert.equal(await stateOf(sandbox), 'paused')
})

test('the files of a sandbox without a process are kept before its pause', async () => {
  const { id, sandbox } = await begun()
  const hands = await driver.hands(sandbox)
  await hands.files.write('/workspace/project/kept.txt', Buffer.from('kept'))
  await driver.pause(sandbox)
  await ada(api.sandboxes.pause, { params: { id: sandbox } })
  assert.equal(await stateOf(sandbox), 'paused')
  assert.deepEqual(
    (await read(id)).files.map(({ path }) => path),
    ['kept.txt'],
  )
})

test('a message that comes in the midst of a pause is answered after it', async () => {
  const { id, sandbox } = await begun()
  const status = async () => (await ada(api.conversations.get, { params: { id } })).execution_status
  await driver.pause(sandbox)
  await database.rows(sql`update sandbox set wanted = 'paused' where id = ${sandbox}`)
  const content = [{ type: 'text' as const, text: 'run echo hello' }]
  await ada(api.events.post, { params: { id }, body: { content, run: true } })
  await sleep(400)
  assert.notEqual(await status(), 'error')
  // Whoever looks after sandboxes says once more what is wanted, and brings the pause to its end.
  await ada(api.sandboxes.pause, { params: { id: sandbox } })
  await until('it is answered', 20_000, async () => (await status()) === 'finished')
})

test('two pauses at once are one', async () => {
  const { sandbox } = await begun()
  const { pause } = driver
  const [called, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let pauses = 0
  driver.pause = async (id) => {
    pauses += 1
    called.resolve()
    await go.promise
    return pause(id)
  }
  try {
    const first = ada(api.sandboxes.pause, { params: { id: sandbox } })
    await called.promise
    const second = ada(api.sandboxes.pause, { params: { id: sandbox } })
    await sleep(300)
    go.resolve()
    await Promise.all([first, second])
  } finally {
    driver.pause = pause
  }
  assert.equal(pauses, 1)
  assert.equal(await stateOf(sandbox), 'paused')
})
