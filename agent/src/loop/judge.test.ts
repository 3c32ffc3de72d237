import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent } from '@parley/contract/events'
import { HookConfigInput } from '@parley/contract/hook-config'
import type { Hands } from '@parley/sandbox/driver'
import { systemClock as clock } from '@parley/store/clock'
import { actTool, calls, memoryFiles, memoryLog, says, scriptedModel, testRun, userMessage } from '../testing.ts'
import type { ScriptedTurn } from '../testing.ts'
import { finish } from '../tools/finish.ts'
import { run } from './loop.ts'
import type { RunOptions } from './work.ts'

/** What came of a run whose hook of this moment a model judges; both are the same scripted model. */
async function tried(moment: string, hook: object, turns: ScriptedTurn[], more: Partial<RunOptions> = {}) {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const acted: string[] = []
  const act = actTool(async (name) => (acted.push(name), `did ${name}`))
  const model = scriptedModel(turns, { clock, cost: 0.1 })
  const hooks = HookConfigInput.parse({ [moment]: [{ hooks: [hook] }] })
  const files = memoryFiles({ '/workspace/rules.txt': 'never on fridays, said topsecret' })
  const hands = () => Promise.resolve({ files } as Hands)
  const policy = { maxBudget: 0.55 }
  const outcome = await run(testRun({ log, model, tools: [act, finish], hands, hooks, policy, ...more }))
  const told = log.stored.filter((event) => event.kind === 'HookExecutionEvent')
  return { log, model, acted, outcome, told }
}
const spent = (events: readonly LogEvent[]) =>
  events.flatMap((event) => (event.kind === 'LLMCallEvent' ? [`${event.usage_id} ${event.cost}`] : []))

const rule = { type: 'prompt', name: 'fridays', prompt: 'Nothing may be done on a friday.' }

test('a model judges a call by the rule, and what it costs is counted apart', async () => {
  const turns = [
    calls(['act', { name: 'friday' }]),
    says('{"decision": "deny", "reason": "it is a friday"}'),
    calls(['act', { name: 'monday' }]),
    says('Well: {"decision":"allow"}'),
    says('Done.'),
  ]
  const { acted, model, told, log, outcome } = await tried('pre_tool_use', rule, turns)
  assert.deepEqual([outcome.status, acted], ['finished', ['monday']])
  assert.deepEqual(
    told.map(({ blocked, reason, success, hook_command }) => [blocked, reason, success, hook_command]),
    [
      [true, 'it is a friday', true, rule.prompt],
      [false, null, true, rule.prompt],
    ],
  )
  const asked = model.requests[1]
  assert.match(JSON.stringify(asked?.messages), /# Rule\\nNothing may.*"name\\":\\"friday\\"/)
  assert.deepEqual(asked?.tools, [])
  assert.match(JSON.stringify(model.requests[2]?.messages), /rejected: it is a friday/)
  assert.deepEqual(spent(log.stored), [
    'default 0.1',
    'prompt-hook:fridays 0.1',
    'default 0.1',
    'prompt-hook:fridays 0.1',
    'default 0.1',
  ])
})

test('no verdict, no time and no budget are failures: they let it through unless a failure is to deny it', async () => {
  const cases: [object, ScriptedTurn][] = [
    [rule, says('I would rather not say.')],
    [{ ...rule, timeout: 0.05 }, [1_000, ...(says('{"decision":"allow"}') as [])]],
  ]
  for (const [hook, judge] of cases)
    for (const on_failure of ['allow', 'deny'] as const) {
      const turns = [calls(['act', { name: 'a' }]), judge, says('Done.')]
      const { acted, told } = await tried('pre_tool_use', { ...hook, on_failure }, turns)
      assert.deepEqual([acted.length, told[0]?.success], [on_failure === 'allow' ? 1 : 0, false])
    }
  const poor = await tried('pre_tool_use', rule, [calls(['act', { name: 'a' }])], { spentBeside: 0.4 })
  assert.deepEqual([poor.acted, poor.outcome.code], [['a'], 'MaxBudgetReached'])
  assert.match(String(poor.told[0]?.error), /are spent/)
})

test('an agent looks with tools that read before it judges, for so many rounds', async () => {
  const view = calls(['file_viewer', { path: '/workspace/rules.txt' }])
  const hook = { type: 'agent', prompt: 'Keep to rules.txt.', tools: ['Read', 'Bash'], max_iterations: 2 }
  const turns = [
    says('Done.'),
    view,
    says('{"decision":"deny","reason":"it is friday"}'),
    says('Done then.'),
    view,
    view,
  ]
  const { model, told, log } = await tried('stop', hook, turns, {
    mask: (text) => text.replaceAll('topsecret', '***'),
    policy: testRun({ log: memoryLog(clock), model: scriptedModel([], { clock }) }).policy,
  })
  const [first, second] = [model.requests[1], model.requests[2]]
  assert.deepEqual(
    first?.tools.map(({ name }) => name),
    ['file_viewer'],
  )
  assert.deepEqual([first.toolChoice, second?.toolChoice], ['auto', 'none'])
  assert.match(JSON.stringify(second?.messages), /never on fridays, said \*\*\*/)
  assert.deepEqual(
    told.map(({ blocked, success }) => [blocked, success]),
    [
      [true, true],
      [false, false],
    ],
  )
  assert.match(JSON.stringify(model.requests[3]?.messages), /not done yet: it is friday/)
  assert.ok(spent(log.stored).includes('agent-hook:stop 0.1'))
})

test('a hook without its command or its rule is refused, and so is a judge that nobody waits for', () => {
  for (const hook of [{}, { type: 'prompt', command: 'x' }, { type: 'agent' }, { ...rule, async: true }])
    assert.equal(HookConfigInput.safeParse({ stop: [{ hooks: [hook] }] }).success, false, JSON.stringify(hook))
})

test('a model is asked five times at one moment, whatever a repository brings', async () => {
  const allow = says('{"decision":"allow"}')
  const turns = [calls(['act', { name: 'a' }]), allow, allow, allow, allow, allow, says('Done.')]
  const { told, acted, outcome, model } = await tried('pre_tool_use', rule, turns, {
    policy: testRun({ log: memoryLog(clock), model: scriptedModel([], { clock }) }).policy,
    hooks: HookConfigInput.parse({ pre_tool_use: [{ hooks: Array.from({ length: 7 }, () => rule) }] }),
  })
  assert.deepEqual([told.length, told.filter(({ success }) => success).length, acted], [7, 5, ['a']])
  assert.deepEqual([outcome.status, model.requests.length], ['finished', 7])
  assert.match(String(told[6]?.error), /at most/)
})
