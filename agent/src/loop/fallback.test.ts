import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '@parley/store/clock'
import { ModelError } from '../model/model.ts'
import { actTool, calls, memoryLog, says, scriptedModel, testRun, userMessage, type ScriptedTurn } from '../testing.ts'
import { finish } from '../tools/finish.ts'
import { run } from './loop.ts'
import type { Policy } from './policy.ts'

const down = (kind: ModelError['kind'] = 'overloaded') => [new ModelError(kind, 'no')]
const attempts = { attempts: 2, multiplier: 1, minWaitMs: 1, maxWaitMs: 1 }

/** A run whose model plays `first` and whose fallback plays `second`, at `cost` dollars a call. */
async function tried(first: ScriptedTurn[], second: ScriptedTurn[], policy: Partial<Policy> = {}, cost = 0) {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const model = scriptedModel(first, { clock })
  const spare = { ...scriptedModel(second, { clock, cost }), name: 'scripted/spare' }
  const tools = [actTool(async () => 'did it'), finish]
  const outcome = await run(
    testRun({ log, model, fallbacks: [spare], tools, policy: { retries: attempts, ...policy } }),
  )
  const used = log.stored.flatMap((event) => (event.kind === 'LLMCallEvent' ? [event.model] : []))
  return { log, outcome, used, asked: [model.requests.length, spare.requests.length] }
}

test('a model that cannot be reached is passed over for a while, and its fallback answers', async () => {
  const { outcome, used, asked, log } = await tried([down(), down()], [calls(['act', { name: 'a' }]), says('ok')])
  assert.equal(outcome.status, 'finished')
  assert.deepEqual(used, ['scripted/spare', 'scripted/spare'])
  assert.deepEqual(asked, [2, 2], 'the second step does not try the first model again')
  const notices = log.stored.filter((event) => event.kind === 'NoticeEvent' && event.code === 'llm_fallback')
  assert.equal(notices.length, 1)
})

for (const kind of ['auth', 'bad_request', 'config'] as const)
  test(`what is wrong with the settings (${kind}) is told, not passed on`, async () => {
    const { outcome, asked } = await tried([down(kind)], [says('ok')])
    assert.deepEqual([outcome.status, asked[1]], ['error', 0])
  })

test('when no model can be reached the run says what the last one said', async () => {
  const { outcome } = await tried([down(), down()], [down('rate_limit'), down('rate_limit')])
  assert.deepEqual([outcome.status, outcome.code], ['error', 'LLMRateLimited'])
})

test('a fallback that would cross the budget is not asked', async () => {
  const { outcome, asked } = await tried([down(), down()], [says('ok')], { maxBudget: 1 }, 2)
  assert.deepEqual([outcome.code, asked[1]], ['MaxBudgetReached', 0])
})
