import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentBounds } from '@parley/agent/delegate/definition'
import { defaultSettings } from '@parley/contract/settings'
import type { ConversationConfig } from '../config.ts'
import { childConfig } from './child-config.ts'
import { policyOf } from './policy.ts'

const ways = { fetch, model: () => assert.fail('no other model is asked for') }
const described = (bounds: AgentBounds, parent: Partial<ConversationConfig> = {}): ConversationConfig => ({
  llm: { model: 'parley/demo' },
  max_iterations: null,
  max_budget_per_task: null,
  confirmation_mode: false,
  security_analyzer: null,
  condenser_max_size: null,
  enable_default_condenser: defaultSettings.enable_default_condenser,
  disabled_skills: [],
  system_message_suffix: null,
  skills: [],
  plugins: [],
  plugin_servers: {},
  hook_config: null,
  agents: [{ name: 'one', description: '', prompt: '', tools: null, model: null, source: '/w/one.md', bounds }],
  ...parent,
})
const childOf = (bounds: AgentBounds, parent: Partial<ConversationConfig> = {}, budget: number | null = null) =>
  childConfig(described(bounds, parent), { agent: 'one', budget })
const asks = (config: ConversationConfig, risk: 'LOW' | 'HIGH'): string =>
  policyOf(config, {}, ways).policy.confirmation({ risk } as never)

test('a limit of a definition counts where it is less than what the parent can spare', () => {
  const limits = { max_iteration_per_run: 50, max_budget_per_run: 2 }
  const { max_iterations, max_budget_per_task } = childOf(limits, {}, 3)
  assert.deepEqual([max_iterations, max_budget_per_task], [50, 2])
  const strict = childOf(limits, { max_iterations: 10 }, 1)
  assert.deepEqual([strict.max_iterations, strict.max_budget_per_task], [10, 1])
  assert.equal(childOf(limits).max_budget_per_task, 2)
  assert.equal(childOf({ max_iteration_per_run: 10_000 }).max_iterations, 500, 'no more than without a definition')
})

test('a sub-agent asks for what its definition says and always where its parent asks', () => {
  assert.deepEqual(
    [asks(childOf({}), 'HIGH'), asks(childOf({ permission_mode: 'always_confirm' }), 'LOW')],
    ['go', 'ask'],
  )
  const risky = childOf({ permission_mode: 'confirm_risky' })
  assert.deepEqual([asks(risky, 'LOW'), asks(risky, 'HIGH')], ['go', 'ask'])
  assert.ok(policyOf(risky, {}, ways).analyzer !== null, 'somebody judges the risk')
  const careful = childOf({ permission_mode: 'confirm_risky' }, { confirmation_mode: true })
  assert.equal(asks(careful, 'LOW'), 'ask', 'its parent asks for everything')
})

test('a server of a definition stands beside those of the parent, and goes on to the sub-agents of its sub-agent', () => {
  const program = { kind: 'stdio' as const, command: 'x', args: [], env: {}, cwd: null, timeoutMs: 1, bare: true }
  const parent = described({})
  parent.agents = parent.agents?.map((agent) => ({ ...agent, servers: { scales: program } })) ?? []
  const one = childConfig(parent, { agent: 'one', budget: null })
  const two = childConfig(one, { agent: 'general', budget: null })
  assert.deepEqual([one.own_servers, two.own_servers], [{ scales: program }, { scales: program }])
  assert.equal(parent.own_servers, undefined)
})

test('what a definition takes away stays away from the sub-agents of its sub-agent', () => {
  const one = childOf({ disallowed_tools: ['terminal'], permission_mode: 'always_confirm' })
  const two = childConfig(one, { agent: 'general', budget: null })
  assert.deepEqual([two.disallowed_tools, asks(two, 'LOW')], [['terminal'], 'ask'])
})
