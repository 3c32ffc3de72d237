import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '@parley/store/clock'
import { actTool, calls, memoryLog, says, scriptedModel, testRun, userMessage } from '../testing.ts'
import { answerAside, BudgetSpent } from './aside.ts'
import { run } from './loop.ts'

const never = new AbortController().signal

/** A conversation with one answered call, and a second one that nobody has answered when `look` is called. */
async function midway(look: (log: ReturnType<typeof memoryLog>) => Promise<void>) {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const act = actTool(async (name) => {
    if (name === 'second') {
      log.arrive(userMessage('And be quick.'))
      await look(log)
    }
    return name
  })
  const turns = [calls(['act', { name: 'first' }]), calls(['act', { name: 'second' }]), says('Done.')]
  const model = scriptedModel(turns, { clock, cost: 0.2 })
  await run(testRun({ log, model, tools: [act] }))
  return model
}

test('a question is asked of the history as it is, without calls under way and with what waits to be told', async () => {
  const model = scriptedModel([says(' Half way. ')], { clock, cost: 0.1 })
  const asked = { model, clock, cacheKey: 'c', maxBudget: 0.6, spentBeside: 0, question: 'How far?' }
  await midway(async (log) => {
    const { text, event } = await answerAside({ ...asked, events: [...log.stored] }, never)
    assert.deepEqual([text, event.usage_id, event.cost], ['Half way.', 'ask', 0.1])
  })
  const [request] = model.requests
  assert.deepEqual([request?.toolChoice, request?.tools.map(({ name }) => name)], ['none', ['act']])
  assert.deepEqual(
    request?.messages.map(({ role }) => role),
    ['system', 'user', 'assistant', 'tool', 'user'],
  )
  assert.match(JSON.stringify(request.messages.at(-1)), /And be quick\..*How far\?/)
})

test('a question that would pass the budget is not asked', async () => {
  const model = scriptedModel([], { clock, cost: 0.3 })
  const asked = { model, clock, cacheKey: 'c', maxBudget: 0.7, spentBeside: 0.1, question: 'How far?' }
  await midway(async (log) => {
    await assert.rejects(answerAside({ ...asked, events: [...log.stored] }, never), BudgetSpent)
  })
  assert.equal(model.requests.length, 0)
})
