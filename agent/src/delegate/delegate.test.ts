import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '@parley/store/clock'
import { run } from '../loop/loop.ts'
import { HandedBack } from '../loop/stop.ts'
import { calls, memoryLog, noUsage, says, scriptedModel, testCall, testRun, userMessage } from '../testing.ts'
import { propose } from '../tools/arguments.ts'
import { assertTool } from '../tools/conformance.ts'
import { toolset } from '../tools/toolset.ts'
import type { ChildReport, Children, ChildTask } from './children.ts'
import { delegate } from './delegate.ts'

const report = (task: ChildTask, more: Partial<ChildReport> = {}): ChildReport => ({
  id: `child of ${task.key.split('/')[1]}`,
  status: 'finished',
  response: `did ${task.prompt}`,
  reason: null,
  model: 'm',
  usage: { ...noUsage, prompt_tokens: 10 },
  cost: 0.2,
  ...more,
})

/** Keeps what it was asked for, and answers as the test says. */
function recorded(answer: (task: ChildTask, signal: AbortSignal) => Promise<ChildReport>) {
  const tasks: ChildTask[] = []
  const children: Children = {
    work(task, signal) {
      tasks.push(task)
      return answer(task, signal)
    },
  }
  return { tasks, tool: delegate(children) }
}

const two = { tasks: [{ task: 'this' }, { task: 'that', agent: 'explorer' }] }

test('the tasks of one call share what is left of the budget, and what they spend counts', async () => {
  const { tasks, tool } = recorded(async (task) => report(task))
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const model = scriptedModel([calls(['delegate', two]), calls(['delegate', two]), says('Done.')], { clock, cost: 0.2 })
  const outcome = await run(testRun({ log, model, tools: [tool], policy: { maxBudget: 1 } }))
  assert.equal(outcome.code, 'MaxBudgetReached')
  assert.deepEqual(
    tasks.map(({ budget, agent }) => [budget?.toFixed(2), agent]),
    [
      ['0.40', 'general'],
      ['0.40', 'explorer'],
      ['0.10', 'general'],
      ['0.10', 'explorer'],
    ],
  )
  const spent = log.stored.filter((event) => event.kind === 'LLMCallEvent')
  assert.deepEqual(
    spent.slice(0, 3).map((event) => [event.usage_id, event.cost]),
    [
      ['default', 0.2],
      ['delegate:child of 0', 0.2],
      ['delegate:child of 1', 0.2],
    ],
  )
})

test('a call whose worker died is taken up again: the same work, one result, counted once', async () => {
  const control = new AbortController()
  const { tasks, tool } = recorded(async (task, signal) => {
    if (control.signal.aborted) return report(task)
    control.abort(new HandedBack())
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const first = testRun({
    log,
    model: scriptedModel([calls(['delegate', two])], { clock }),
    tools: [tool],
    signal: control.signal,
  })
  await assert.rejects(run(first), HandedBack)
  const next = memoryLog(clock, structuredClone(log.stored))
  const outcome = await run(testRun({ log: next, model: scriptedModel([says('Done.')], { clock }), tools: [tool] }))
  assert.equal(outcome.status, 'finished')
  assert.deepEqual([tasks[0]?.key, tasks[1]?.key], [tasks[2]?.key, tasks[3]?.key])
  const kinds = next.stored.map((event) => event.kind)
  assert.equal(kinds.filter((kind) => kind === 'ObservationEvent').length, 1)
  assert.equal(kinds.filter((kind) => kind === 'AgentErrorEvent').length, 0)
  assert.equal(kinds.filter((kind) => kind === 'LLMCallEvent').length, 4)
})

test('a sub-agent that cannot be started is told of beside those that could', async () => {
  const { tool } = recorded(async (task) => {
    if (task.prompt === 'this') throw new Error('no room')
    return report(task, { status: 'error', reason: 'out of steps', response: null })
  })
  const context = { call: testCall, signal: new AbortController().signal, onOutput: () => {} }
  const seen = await tool.run(tool.input.parse(two), context as never)
  const [text] = seen.content
  assert.equal(
    text?.type === 'text' && text.text,
    '## this (not started: no room)\n\n## that (error: out of steps)\nid: child of 1\nIt said nothing.',
  )
  assert.equal(seen.is_error, false)
})

test('other makers’ ways to give work are understood', () => {
  const { tool } = recorded(async (task) => report(task))
  const read = (name: string, args: object) =>
    propose({ id: '1', name, arguments: JSON.stringify(args) }, toolset([tool], { askRisk: false })).input
  assert.deepEqual(read('Task', { prompt: 'look', description: 'Look', subagent_type: 'code-explorer' }), {
    tasks: [{ task: 'look', title: 'Look', agent: 'explorer' }],
  })
  assert.deepEqual(read('delegate', { tasks: { one: 'x' } }), { tasks: [{ title: 'one', task: 'x' }] })
})

test('delegate keeps what every tool promises', () =>
  assertTool(recorded(async (task) => report(task)).tool, {} as never, []))
