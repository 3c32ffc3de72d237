import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { condensers } from '@parley/agent/condense/condensers'
import { replay } from '@parley/agent/testing-replay'
import type { Event, LogEvent } from '@parley/contract/events'
import { begin, eventsOf, observations, ofKind, openHouse, rest, runs, says, until } from '../tools/house.ts'

/* What stands around the agent: confirmations, hooks, a critic, and notes in the place of a long history. */

const hooks = {
  hooks: {
    PreToolUse: [
      { matcher: 'terminal', hooks: [{ command: 'grep -q forbidden && { echo "not here" >&2; exit 2; }; exit 0' }] },
    ],
  },
}
const steps = Array.from({ length: 10 }, (_, at) => runs(`echo step ${at}`))
const house = await openHouse({
  scripts: {
    two: { turns: [{ tools: [terminal('echo first'), terminal('echo second')] }, { text: 'Done.' }] },
    rm: { turns: [runs('rm -rf /'), { text: 'Done.' }] },
    hooked: { turns: [runs('echo forbidden'), runs('echo fine'), { text: 'Done.' }] },
    judged: { turns: [finishes(), runs('echo x > made'), finishes()] },
    long: { turns: [...steps, { text: 'NOTES: ten steps were made.' }, { text: 'Done.', expect: 'NOTES: ten steps' }] },
  },
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
