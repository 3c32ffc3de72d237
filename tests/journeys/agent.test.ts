import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { condensers } from '@parley/agent/condense/condensers'
import { replay } from '@parley/agent/testing-replay'
import type { Event, LogEvent } from '@parley/contract/events'
import { begin, eventsOf, observations, ofKind, openHouse, rest, runs, say, says, until } from '../tools/house.ts'

/* What stands around the agent: confirmations, hooks, a critic, and notes in the place of a long history. */

const hooks = {
  hooks: {
    PreToolUse: [
      { matcher: 'terminal', hooks: [{ command: 'grep -q forbidden && { echo "not here" >&2; exit 2; }; exit 0' }] },
    ],
  },
}
const page = '<title>Counter</title><button onclick="said.textContent = 41 + 1">Count</button><p id=said></p>'
const serve = `printf %s '${page}' > index.html; python3 -m http.server 8123 --bind 127.0.0.1`
const steps = Array.from({ length: 10 }, (_, at) => runs(`echo step ${at}`))
const house = await openHouse({
  scripts: {
    two: { turns: [{ tools: [terminal('echo first'), terminal('echo second')] }, { text: 'Done.' }] },
    rm: { turns: [runs('rm -rf /'), { text: 'Done.' }] },
    hooked: { turns: [runs('echo forbidden'), runs('echo fine'), { text: 'Done.' }] },
    judged: { turns: [finishes(), runs('echo x > made'), finishes()] },
    asked: { turns: [runs('echo begun'), runs('until [ -e go ]; do sleep 0.05; done'), { text: 'Done.' }] },
    wordy: { turns: [...steps, { text: 'Done.' }] },
    browses: {
      turns: [
        { tools: [{ name: 'terminal', args: { command: serve, background: true } }] },
        runs('until curl -s 127.0.0.1:8123 > /dev/null; do sleep 0.05; done'),
        browses({ action: 'open', url: 'http://127.0.0.1:8123/' }),
        browses({ action: 'click', element: '{{last:/\\[(\\d+)\\] button "Count"/}}' }),
        browses({ action: 'screenshot' }),
        { text: 'Counted.' },
      ],
    },
    long: { turns: [...steps, { text: 'NOTES: ten steps were made.' }, { text: 'Done.', expect: 'NOTES: ten steps' }] },
  },
  side: [{ when: { lastUser: 'How far are you' }, text: 'Half way.', hold: 'side', usage: { input: 900, output: 10 } }],
  repositories: { 'acme/hooked': { files: { '.parley/hooks.json': JSON.stringify(hooks), 'README.md': 'x\n' } } },
})
after(() => house[Symbol.asyncDispose]())
const { ada, llm } = house

function terminal(command: string) {
  return { name: 'terminal', args: { command } }
}
function finishes() {
  return { tools: [{ name: 'finish', args: { message: 'Done.' } }] }
}
function browses(args: object) {
  return { tools: [{ name: 'browser', args }] }
}
/** Nothing but the log is needed to come to the same log again. */
async function assertReplays(events: readonly Event[], bounds?: Parameters<typeof replay>[1]): Promise<void> {
  const { difference, compared } = await replay(events as unknown as LogEvent[], bounds)
  assert.equal(difference, null, JSON.stringify(difference))
  assert.ok(compared > 3)
}
const waiting = (id: string) =>
  until('it waits for a confirmation', 20_000, async () => {
    const { execution_status } = await ada.conversations.get({ params: { id } })
    return execution_status === 'waiting_for_confirmation' ? true : undefined
  })

test('of two actions one is confirmed with other arguments and one refused, each by its id', async () => {
  await ada.settings.update({ body: { confirmation_mode: true } })
  const id = await begin(ada, says('[[script:two]] Go.'))
  await waiting(id)
  const [first, second] = ofKind(await eventsOf(ada, id), 'ActionEvent')
  assert.ok(first !== undefined && second !== undefined)
  const edits = { [first.id]: { command: 'echo edited' } }
  await ada.events.respondToConfirmation({ params: { id }, body: { accept: true, action_ids: [first.id], edits } })
  const seen = await until('the first action is done', 20_000, async () => {
    const events = await eventsOf(ada, id)
    return ofKind(events, 'ObservationEvent').length > 0 ? events : undefined
  })
  assert.match(JSON.stringify(ofKind(seen, 'ObservationEvent')), /edited/)
  await waiting(id)
  await ada.events.respondToConfirmation({
    params: { id },
    body: { accept: false, reason: 'not that one', action_ids: [second.id] },
  })
  const rejected = await until(
    'the second is refused',
    20_000,
    async () => ofKind(await eventsOf(ada, id), 'UserRejectObservation')[0],
  )
  assert.equal(rejected['rejection_reason'], 'not that one')
  assert.equal(ofKind(await eventsOf(ada, id), 'ObservationEvent').length, 1)
  await until('the run has ended', 20_000, async () => {
    const { execution_status } = await ada.conversations.get({ params: { id } })
    return execution_status === 'idle'
  })
  await assertReplays(await eventsOf(ada, id))
})

test('with an analyzer only what is risky waits, and the action says why', async () => {
  await ada.settings.update({ body: { confirmation_mode: true, security_analyzer: 'pattern' } })
  const id = await begin(ada, says('[[script:two]] Go.'))
  assert.equal((await rest(ada, id)).status, 'finished')
  const risky = await begin(ada, says('[[script:rm]] Go.'))
  await waiting(risky)
  const [action] = ofKind(await eventsOf(ada, risky), 'ActionEvent')
  assert.equal(action?.['security_risk'], 'HIGH')
  assert.match(JSON.stringify(action['risk']), /catastrophic delete/)
  await ada.settings.update({ body: { confirmation_mode: false, security_analyzer: null } })
})

test('hooks of the repository hold for every call of the agent', async () => {
  const id = await begin(ada, says('[[script:hooked]] Go.', { selected_repository: 'acme/hooked' }))
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished')
  const [refused] = ofKind(events, 'UserRejectObservation')
  assert.deepEqual([refused?.['rejection_source'], refused?.['rejection_reason']], ['hook', 'not here'])
  assert.match(JSON.stringify(observations(events)), /fine/)
  assert.equal(ofKind(events, 'HookExecutionEvent').length, 2)
})

test('a critic of the start request sends the agent back until something was changed', async () => {
  const critic = { kind: 'EmptyPatchCritic' as const, iterative_refinement: { max_iterations: 2 } }
  const id = await begin(ada, says('[[script:judged]] Go.', { critic }))
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished')
  const results = ofKind(events, 'ConversationStateUpdateEvent').filter((event) => event['key'] === 'critic_result')
  assert.deepEqual(
    results.map((event) => (event['value'] as { score: number }).score),
    [0, 1],
  )
})

test('a history longer than the settings allow is replaced by notes, and counted apart', async () => {
  await ada.settings.update({ body: { condenser_max_size: 20 } })
  await llm.clear()
  const id = await begin(ada, says('[[script:long]] Go.'))
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished')
  const [condensed] = ofKind(events, 'Condensation')
  assert.match(String(condensed?.['summary']), /NOTES: ten steps/)
  assert.ok(!(await llm.log()).summary['expectFailed'])
  const shown = await ada.conversations.get({ params: { id } })
  assert.ok(JSON.stringify(shown).length > 0)
  assert.ok(ofKind(events, 'LLMCallEvent').some((event) => event['usage_id'] === 'condenser'))
  await assertReplays(events, { condenser: condensers.LLMSummarizingCondenser({ maxSize: 20 }) })
  await ada.settings.update({ body: { condenser_max_size: null } })
})

test('a history is condensed when the user asks for it, before the next call and without a run of its own', async () => {
  const id = await begin(ada, says('[[script:wordy]] Go.'))
  await rest(ada, id)
  const { execution_status } = await ada.conversations.condense({ params: { id } })
  assert.equal(execution_status, 'finished')
  assert.equal((await eventsOf(ada, id)).at(-1)?.kind, 'CondensationRequest')
  const after = await say(ada, id, 'And?')
  const { status, events } = await rest(ada, id, after - 1)
  assert.equal(status, 'finished')
  assert.deepEqual(
    ofKind(events, 'Condensation').map((event) => event['reason']),
    ['request'],
  )
})

test('a question beside the work is answered while a command runs, and leaves nothing but what it cost', async () => {
  const prices = { input_cost_per_token: 0.001, output_cost_per_token: 0.001 }
  await ada.settings.update({ body: { agent_settings: { llm: prices }, max_budget_per_task: 1000 } })
  await llm.clear()
  const id = await begin(ada, says('[[script:asked]] Go.'))
  const before = await until('the second command runs', 20_000, async () => {
    const events = await eventsOf(ada, id)
    return ofKind(events, 'ActionEvent').length === 2 ? events : undefined
  })
  const ask = () => ada.conversations.ask({ params: { id }, body: { question: 'How far are you?' } })
  const two = [ask(), ask()]
  await assert.rejects(Promise.race(two), { code: 'quota_exceeded' }, 'one at a time')
  await llm.release('side')
  const { answer, cost } = await Promise.any(two)
  assert.deepEqual([answer, cost?.toFixed(2)], ['Half way.', '0.91'])

  type Request = { messages: { role: string }[]; tools: unknown[]; tool_choice: string }
  const { requests } = await llm.log()
  const bodies = await Promise.all(requests.slice(-2).map(async ({ n }) => JSON.parse(await llm.body(n)) as Request))
  const [work, asked] = bodies as [Request, Request]
  assert.equal(asked.tool_choice, 'none')
  assert.deepEqual(asked.tools, work.tools)
  assert.deepEqual(asked.messages.slice(0, -1), work.messages, 'the history so far, without the command under way')
  const fresh = (await eventsOf(ada, id)).slice(before.length)
  assert.deepEqual(
    fresh.map((event) => [event.kind, event['usage_id'], event['cost']]),
    [['LLMCallEvent', 'ask', 0.91]],
  )
  const { execution_status, metrics } = await ada.conversations.get({ params: { id } })
  assert.equal(execution_status, 'running')
  assert.ok((metrics?.accumulated_cost ?? 0) > 0.91)
  const form = new FormData()
  form.append('file', new Blob(['']), 'go')
  const headers = { authorization: `Bearer ${await house.server.keyOf('ada')}` }
  const way = `${house.server.url}/api/v1/app-conversations/${id}/files/upload`
  assert.equal((await fetch(way, { method: 'POST', headers, body: form })).status, 201)
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished')
  await assertReplays(events)
  await ada.settings.update({ body: { agent_settings: null, max_budget_per_task: null } })
})

test('a page that the agent serves is opened in the browser of the sandbox, used, and shown to the model', async () => {
  await llm.clear()
  await ada.settings.update({ body: { agent_settings: { llm: { disable_vision: false } } } })
  const id = await begin(ada, says('[[script:browses]] Go.'))
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished')
  const [, , opened = '', clicked = ''] = observations(events)
  assert.match(opened, /^Counter — http:\/\/127\.0\.0\.1:8123\/\n.*button "Count"/)
  assert.match(clicked, /\n42$/)
  const last = await llm.body((await llm.log()).requests.at(-1)?.n ?? 0)
  assert.ok(last.includes('data:image/jpeg;base64,'), 'the model sees the picture')
  assert.deepEqual(ofKind(events, 'NoticeEvent'), [], 'nothing was asked of the network')
  await ada.settings.update({ body: { agent_settings: null } })
})
