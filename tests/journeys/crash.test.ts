import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { api } from '@parley/contract/api'
import { Problem } from '@parley/contract/problems'
import { type StartTask, type StartTaskStatus, startEnded, startTaskStatuses } from '@parley/contract/start-tasks'
import { openForgeServer } from '../tools/forge-server.ts'
import {
  begin,
  eventsOf,
  forgeToken,
  observations,
  ofKind,
  rest,
  runs,
  say,
  says,
  scriptOf,
  until,
  useModel,
} from '../tools/house.ts'
import { kill, openProgram, processesNamed } from '../tools/program.ts'
import { openScriptedLlm } from '../tools/scripted-llm.ts'

/*
 * The real program, killed at every point of a start, in the middle of a command, and together with its database. One
 * program is started again and again on one data folder, as an operator's would be.
 */

const stack = new AsyncDisposableStack()
after(() => stack.disposeAsync())

/** Of a command that does not end by itself; nothing else on this machine sleeps so long. */
const long = '86399.173'
const llm = stack.use(
  await openScriptedLlm(
    scriptOf({
      plain: { turns: [runs('cat prepared.txt'), { text: 'Done.' }] },
      once: {
        turns: [
          runs(`echo ran >> ran.txt; echo begun; sleep ${long}`),
          runs('wc -l < ran.txt'),
          { text: 'It ran once.' },
        ],
      },
      held: { turns: [{ text: 'Answered after all.', hold: 'held' }] },
      parent: {
        turns: [
          { tools: [{ name: 'delegate', args: { tasks: [{ task: '[[script:child]] Work.' }] } }] },
          { text: 'The parent is done.' },
        ],
      },
      child: { turns: [{ text: 'The child is done.', hold: 'child' }] },
    }),
  ),
)
const files = { '.parley/setup.sh': 'sleep 0.3; echo prepared > prepared.txt\n' }
const forge = stack.use(
  await openForgeServer({ token: forgeToken, address: '127.0.0.2', repositories: { 'acme/widgets': { files } } }),
)
const hosts = [llm.url, forge.url].map((url) => new URL(url).host).join(',')
const program = stack.use(await openProgram({ env: { PARLEY_PRIVATE_HOSTS: hosts } }))
await program.start()
const { client } = program
await useModel(client, llm.url)
await client.git.connect({ body: { provider_tokens: { open_forge: { token: forgeToken, host: forge.url } } } })

const working = startTaskStatuses.filter((status) => !startEnded(status))

async function taskOf(conversation: string): Promise<StartTask> {
  const { items } = await client.startTasks.search({ query: { conversation_id__eq: conversation } })
  assert.equal(items.length, 1)
  return items[0] ?? assert.fail('the start is lost')
}

async function killAt(status: StartTaskStatus, conversation: string): Promise<void> {
  const body = says('[[script:plain]] Look.', { conversation_id: conversation, selected_repository: 'acme/widgets' })
  const cut: unknown = await (async () => {
    for await (const task of await client.call(api.conversations.streamStart, { body }))
      if (task.status === status) return program.end('SIGKILL')
  })().catch((error: unknown) => error)
  assert.equal(cut, null, `the start was never ${status}`)
}

for (const status of working)
  test(`a start that is killed in ${status} ends as one conversation in one sandbox`, async () => {
    const id = crypto.randomUUID()
    await killAt(status, id)
    await program.start()
    const task = await until('the start has ended', 30_000, async () => {
      const seen = await taskOf(id)
      return startEnded(seen.status) && seen
    })
    assert.equal(task.status, 'READY', task.detail ?? '')
    const { status: came, events } = await rest(client, id)
    assert.equal(came, 'finished')
    assert.match(observations(events).join(), /prepared/)
    assert.equal(ofKind(events, 'MessageEvent').length, 2)
    const said = await say(client, id, '[[script:plain]] Again.')
    assert.equal((await rest(client, id, said)).status, 'finished')
    const sandboxes = await client.sandboxes.search({})
    const conversations = await client.conversations.search({})
    assert.deepEqual(
      sandboxes.items.map((one) => one.id).toSorted(),
      conversations.items.map((one) => one.sandbox_id).toSorted(),
    )
    await client.conversations.delete({ params: { id } })
  })

/** Starts a conversation and waits until its command has printed something. */
async function inTheMiddle(): Promise<string> {
  const id = await begin(client, says('[[script:once]] Run it.'))
  for await (const { data } of await client.call(api.events.stream, { params: { id }, query: { after_seq: 0 } })) {
    if (data.kind === 'ToolOutputDelta' && String(data.content).includes('begun')) return id
  }
  return assert.fail('the stream ended before the command had printed')
}

async function ranOnce(id: string): Promise<void> {
  const { status, events } = await rest(client, id, 0, 45_000)
  assert.equal(status, 'finished')
  const [first] = ofKind(events, 'ActionEvent')
  const results = events.filter((event) => event.tool_call_id === first?.tool_call_id && event.kind !== 'ActionEvent')
  assert.equal(results.length, 1, JSON.stringify(results))
  assert.equal(observations(events).at(-1)?.trim().split('\n')[0], '1')
  assert.deepEqual(
    events.map((event) => event.seq),
    events.map((_, index) => index + 1),
  )
  assert.equal(await processesNamed(long), 0)
}

test('a command that is under way when the program is killed has its effect once and one result', async () => {
  const id = await inTheMiddle()
  await program.end('SIGKILL')
  await program.start()
  await ranOnce(id)
})

test('a stop by signal in the middle of a command ends well, and the work goes on after the next start', async () => {
  const id = await inTheMiddle()
  assert.equal(await program.end('SIGTERM'), 0)
  await program.start()
  await ranOnce(id)
})

test('a stop by signal while the model thinks ends well, and the answer comes after the next start', async () => {
  const id = await begin(client, says('[[script:held]] Think.'))
  await until(
    'the model is asked',
    10_000,
    async () => (await client.conversations.get({ params: { id } })).execution_status === 'running',
  )
  assert.equal(await program.end('SIGTERM'), 0)
  await program.start()
  await llm.release('held')
  const { status, events } = await rest(client, id)
  assert.equal(status, 'finished')
  assert.equal(ofKind(events, 'MessageEvent').filter((event) => event.source === 'agent').length, 1)
})

test('a sub-agent outlives the program, and its parent hears of its end', async () => {
  const id = await begin(client, says('[[script:parent]] Give it away.'))
  const child = await until('the sub-agent is at work', 20_000, async () => {
    const [one] = (await client.conversations.get({ params: { id } })).sub_conversation_ids
    if (one === undefined) return undefined
    return (await client.conversations.get({ params: { id: one } })).execution_status === 'running' && one
  })
  await program.end('SIGKILL')
  await llm.release('child')
  await program.start()
  const { status, events } = await rest(client, id)
  assert.equal(status, 'finished')
  assert.match(observations(events).join(), /\(finished\)\nid: [0-9a-f-]+\nThe child is done\./)
  assert.equal(ofKind(events, 'AgentErrorEvent').length, 0)
  assert.equal(ofKind(events, 'LLMCallEvent').filter((event) => event['usage_id'] === `delegate:${child}`).length, 1)
  assert.equal((await client.conversations.get({ params: { id } })).sub_conversation_ids.length, 1)
})

test('when the database is killed under load callers are told to wait, and nothing acknowledged is lost', async (t) => {
  const id = await begin(client, {})
  const acknowledged: string[] = []
  const codes = new Set<string>()
  let going = true
  const writer = async () => {
    while (going)
      await client.events
        .post({ params: { id }, body: { content: [{ type: 'text', text: 'note' }], run: false } })
        .then(
          (sent) => acknowledged.push(sent.event_id),
          (error: unknown) => codes.add(error instanceof Problem ? error.code : String(error)),
        )
  }
  const writers = Promise.all(Array.from({ length: 4 }, writer))
  try {
    for (let round = 0; round < 3; round += 1) {
      const before = acknowledged.length
      await until('notes are written', 10_000, () => acknowledged.length > before + 20)
      kill(await program.postgres())
      const killed = Date.now()
      const refused = acknowledged.length
      await until('notes are written again', 15_000, () => acknowledged.length > refused + 20)
      t.diagnostic(`20 further writes were acknowledged ${Date.now() - killed} ms after the kill`)
    }
  } finally {
    going = false
  }
  await writers
  assert.deepEqual([...codes], ['unavailable'])
  const events = await eventsOf(client, id)
  const stored = new Set(events.map((event) => event.id))
  assert.equal(stored.size, events.length)
  assert.deepEqual(
    acknowledged.filter((one) => !stored.has(one)),
    [],
  )
  assert.deepEqual(
    events.map((event) => event.seq),
    events.map((_, index) => index + 1),
  )
  t.diagnostic(`${acknowledged.length} writes acknowledged, ${events.length} events stored`)
})

test('no credential was printed by the program in all of this', () => {
  for (const secret of [forgeToken, 'sk-llm-key']) assert.ok(!program.said().includes(secret))
})
