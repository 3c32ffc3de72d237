import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent } from '@parley/contract/events'
import { systemClock } from '@parley/store/clock'
import { actTool, calls, memoryLog, says, scriptedModel, testRun, userMessage, type MemoryLog } from '../testing.ts'
import { finish } from '../tools/finish.ts'
import { confirmationEvent } from './confirm.ts'
import { run } from './loop.ts'
import type { Policy } from './policy.ts'

let ahead = 0
const clock = {
  ...systemClock,
  now: () => new Date(systemClock.millis() + ahead).toISOString(),
  millis: () => systemClock.millis() + ahead,
}

function asked(more: Partial<Policy> = {}) {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const acted: string[] = []
  const act = actTool(async (name) => (acted.push(name), `did ${name}`))
  const model = scriptedModel([calls(['act', { name: 'a' }], ['act', { name: 'b' }]), says('ok'), says('well')], {
    clock,
  })
  const policy = { confirmation: () => 'ask' as const, ...more }
  const go = (on: MemoryLog = log) => run(testRun({ log: on, model, tools: [act, finish], policy, clock }))
  return { log, model, acted, go }
}
const results = (events: readonly LogEvent[]) =>
  events.filter((event) => /^(Observation|UserReject|AgentError)/.test(event.kind)).map((event) => event.kind)

test('actions that must be confirmed wait, for any number of workers, and a message does not confirm them', async () => {
  const { log, acted, go } = asked()
  assert.equal((await go()).status, 'waiting_for_confirmation')
  log.arrive(userMessage('Hurry.'))
  assert.equal((await go()).status, 'waiting_for_confirmation')
  assert.equal((await go(memoryLog(clock, log.stored))).status, 'waiting_for_confirmation')
  assert.deepEqual(acted, [])
})

test('accepted actions are executed by whoever runs next, and the run goes on', async () => {
  const { log, acted, go } = asked()
  await go()
  log.arrive(confirmationEvent({ decision: 'accept', action_ids: null, reason: null }))
  assert.equal((await go(memoryLog(clock, log.stored))).status, 'finished')
  assert.deepEqual(acted, ['a', 'b'])
})

test('rejected actions get the reason as their result, and the conversation is idle until the user speaks', async () => {
  const { log, acted, go, model } = asked()
  await go()
  log.arrive(confirmationEvent({ decision: 'reject', action_ids: null, reason: 'too risky' }))
  assert.equal((await go()).status, 'idle')
  assert.deepEqual([acted, results(log.stored)], [[], ['UserRejectObservation', 'UserRejectObservation']])
  log.arrive(userMessage('Do it another way.'))
  assert.equal((await go()).status, 'finished')
  assert.match(JSON.stringify(model.requests[1]?.messages), /too risky/)
})

test('one of two may be accepted: it is executed, the other goes on waiting', async () => {
  const { log, acted, go } = asked()
  await go()
  const first = log.stored.find((event) => event.kind === 'ActionEvent')
  log.arrive(confirmationEvent({ decision: 'accept', action_ids: [first?.id ?? ''], reason: null }))
  assert.equal((await go()).status, 'waiting_for_confirmation')
  assert.deepEqual(acted, ['a'])
})

test('an accepted action whose worker died is not executed again', async () => {
  const { log, acted, go } = asked()
  await go()
  log.arrive(confirmationEvent({ decision: 'accept', action_ids: null, reason: null }))
  await go()
  const died = log.stored.findIndex((event) => event.kind === 'ObservationEvent')
  acted.length = 0
  const next = memoryLog(clock, log.stored.slice(0, died))
  await go(next)
  assert.deepEqual(acted, [])
  assert.deepEqual(results(next.stored), ['AgentErrorEvent', 'AgentErrorEvent'])
})

test('a lone finish is never asked about', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const model = scriptedModel([calls(['finish', { message: 'ok' }])], { clock })
  assert.equal((await run(testRun({ log, model, policy: { confirmation: () => 'ask' } }))).status, 'finished')
})

test('an action may be edited: the new arguments are executed and the model is told, the log keeps both', async () => {
  const { log, acted, go, model } = asked()
  await go()
  const [first, second] = log.stored.filter((event) => event.kind === 'ActionEvent')
  const edits = { [first?.id ?? '']: { name: 'safer' }, [second?.id ?? '']: { nonsense: true } }
  log.arrive(confirmationEvent({ decision: 'accept', action_ids: null, reason: null, edits }))
  assert.equal((await go(memoryLog(clock, log.stored))).status, 'finished')
  assert.deepEqual(acted, ['safer'])
  const shown = JSON.stringify(model.requests[1]?.messages)
  assert.match(shown, /user changed the arguments.*safer/)
  assert.match(shown, /Wrong arguments for act/)
  assert.equal(first?.kind === 'ActionEvent' && first.tool_call.arguments, '{"name":"a"}')
})

test('a request that nobody answers in time expires: a late yes executes nothing, and the next message is answered', async () => {
  for (const late of [true, false]) {
    const { log, acted, go, model } = asked({ confirmationMs: 60_000 })
    await go()
    ahead += 61_000
    if (late) log.arrive(confirmationEvent({ decision: 'accept', action_ids: null, reason: null }))
    assert.equal((await go()).status, 'idle')
    log.arrive(userMessage('Then without it.'))
    assert.equal((await go()).status, 'finished')
    assert.deepEqual(acted, [])
    assert.match(JSON.stringify(model.requests[1]?.messages), /has expired/)
  }
})
