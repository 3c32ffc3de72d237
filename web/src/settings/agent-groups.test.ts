import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentSettings } from '@parley/contract/agent-settings'
import { LlmOptions } from '@parley/contract/llm-config'
import { agentGroups, membersIn } from './agent-groups.ts'
import { membersOf, valueAt, withValue } from './schema.ts'

test('every member of the agent settings and of the model has one place in the page', () => {
  const shown = agentGroups.flatMap((group) => membersIn(group).map(({ path }) => path.join('.')))
  const { llm: _, ...rest } = AgentSettings.shape
  const all = [...Object.keys(rest), ...Object.keys(LlmOptions.shape).map((name) => `llm.${name}`)]
  assert.deepEqual(shown.toSorted(), all.toSorted())
})

test('a member has the control that its schema asks for', () => {
  const members = new Map([...membersOf(AgentSettings), ...membersOf(LlmOptions)].map((one) => [one.name, one.shape]))
  assert.deepEqual(members.get('tool_concurrency_limit'), { kind: 'number', min: 1, max: 16, isWhole: true })
  assert.deepEqual(members.get('temperature'), { kind: 'number', min: 0, max: undefined, isWhole: false })
  assert.deepEqual(members.get('api_mode'), { kind: 'choice', values: ['chat', 'responses'] })
  assert.deepEqual(
    ['stuck_detection', 'cloud_secret_access_key', 'include_default_tools', 'llm_profiles', 'agent_context'].map(
      (name) => members.get(name)?.kind,
    ),
    ['switch', 'secret', 'lines', 'json', 'members'],
  )
  const policy = members.get('confirmation_policy')
  assert.ok(policy?.kind === 'variants')
  assert.deepEqual(policy.variants['ConfirmRisky']?.[0], {
    name: 'threshold',
    shape: { kind: 'choice', values: ['LOW', 'MEDIUM', 'HIGH'] },
    usual: 'HIGH',
  })
})

test('a value is put in its place, and what is empty without it goes too', () => {
  const values = withValue({ stuck_detection: false }, ['llm', 'temperature'], 0.5)
  assert.deepEqual(values, { stuck_detection: false, llm: { temperature: 0.5 } })
  assert.equal(valueAt(values, ['llm', 'temperature']), 0.5)
  assert.deepEqual(withValue(values, ['llm', 'temperature'], undefined), { stuck_detection: false })
})
