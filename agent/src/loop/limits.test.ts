import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '@parley/store/clock'
import { calls, memoryLog, noUsage, says, scriptedModel, testRun, userMessage, type ScriptedTurn } from '../testing.ts'
import { run } from './loop.ts'
import type { Policy } from './policy.ts'

let thoughts = 0
const thinks: ScriptedTurn = () => calls(['think', { thought: `thought of ${'x'.repeat((thoughts += 1))}` }])
const tried = async (policy: Partial<Policy>, cost: number | null, turns = 20) => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const model = scriptedModel(
    Array.from({ length: turns }, () => thinks),
    { clock, cost },
  )
  const outcome = await run(testRun({ log, model, policy: { stuckDetection: false, ...policy } }))
  const notices = log.stored.flatMap((event) => (event.kind === 'NoticeEvent' ? [event.code] : []))
  return { log, model, outcome, notices }
}

test('a budget of 1.00 stops before the call of 0.30 that would cross it, and warns before', async () => {
  const { outcome, model, notices } = await tried({ maxBudget: 1 }, 0.3)
  assert.deepEqual([outcome.status, outcome.code, model.requests.length], ['error', 'MaxBudgetReached', 3])
  assert.deepEqual((await tried({ maxBudget: 1 }, 0.09)).notices, ['budget_warning'])
  assert.deepEqual(notices, [])
})

test('what was spent beside the log, as for a title, counts against the budget', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const model = scriptedModel([says('Done.')], { clock, cost: 0.3 })
  const outcome = await run(testRun({ log, model, spentBeside: 0.8, policy: { maxBudget: 1 } }))
  assert.deepEqual([outcome.code, model.requests.length], ['MaxBudgetReached', 0])
})

test('a price that nobody knows is told once when there is a budget', async () => {
  const { outcome, notices } = await tried({ maxBudget: 1, maxIterations: 5 }, null)
  assert.equal(outcome.code, 'MaxIterationsReached')
  assert.deepEqual(notices, ['price_unknown'])
})

test('the limit of steps ends the run, and the next message gets as many again', async () => {
  const { log, model, outcome } = await tried({ maxIterations: 3 }, 0)
  assert.deepEqual([outcome.code, model.requests.length], ['MaxIterationsReached', 3])
  log.arrive(userMessage('More.'))
  const again = await run(testRun({ log, model, policy: { maxIterations: 3, stuckDetection: false } }))
  assert.deepEqual([again.code, model.requests.length], ['MaxIterationsReached', 6])
})

test('a worker that takes over counts the steps of the one that died', async () => {
  const { log, model } = await tried({ maxIterations: 3 }, 0)
  const died = log.stored.findIndex((event) => event.kind === 'ConversationErrorEvent')
  const next = memoryLog(clock, log.stored.slice(0, died))
  await run(testRun({ log: next, model, policy: { maxIterations: 3, stuckDetection: false } }))
  assert.equal(model.requests.length, 3)
})

test('every call of the model leaves what it used and cost', async () => {
  const { log } = await tried({ maxIterations: 1 }, 0.25)
  const call = log.stored.find((event) => event.kind === 'LLMCallEvent')
  assert.ok(call?.kind === 'LLMCallEvent')
  assert.deepEqual([call.cost, call.usage, call.attempts, call.usage_id], [0.25, noUsage, 1, 'default'])
})
