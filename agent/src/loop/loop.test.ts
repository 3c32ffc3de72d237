import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '@parley/store/clock'
import { actTool, calls, memoryLog, says, scriptedModel, testRun, userMessage } from '../testing.ts'
import { finish } from '../tools/finish.ts'
import { run } from './loop.ts'

const kinds = (events: readonly { kind: string }[]) => events.map((event) => event.kind)
const textOf = (message: unknown) => JSON.stringify(message)

test('a conversation runs from a message through tools to its end, and every word of it is durable', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const model = scriptedModel(
    [calls(['think', { thought: 'a' }], ['think', { thought: 'b' }]), calls(['finish', { message: 'Done.' }])],
    { clock },
  )
  const outcome = await run(testRun({ log, model }))
  assert.deepEqual(outcome, { status: 'finished', seenSeq: log.stored.length })
  const turn = ['LLMCallEvent', 'ActionEvent']
  const first = [...turn, 'ActionEvent', 'ObservationEvent', 'ObservationEvent']
  assert.deepEqual(kinds(log.stored), ['MessageEvent', 'SystemPromptEvent', ...first, ...turn, 'ObservationEvent'])
})

test('a text answer ends the run, and the next message starts where it ended', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Hello.'))
  const model = scriptedModel([says('Hi.'), says('Still here.')], { clock })
  assert.equal((await run(testRun({ log, model }))).status, 'finished')
  log.arrive(userMessage('And now?'))
  assert.equal((await run(testRun({ log, model }))).status, 'finished')
  assert.deepEqual(
    model.requests[1]?.messages.map((message) => message.role),
    ['system', 'user', 'assistant', 'user'],
  )
})

test('a run without anything to answer asks no model', async () => {
  const model = scriptedModel([says('Hi.')], { clock })
  const empty = memoryLog(clock)
  assert.equal((await run(testRun({ log: empty, model }))).status, 'idle')
  empty.arrive(userMessage('Hello.'))
  await run(testRun({ log: empty, model }))
  assert.equal((await run(testRun({ log: empty, model }))).status, 'finished')
  assert.equal(model.requests.length, 1)
})

test('a message that was only to be kept is read by the next run', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('For later.', false))
  const model = scriptedModel([says('Read.')], { clock })
  assert.equal((await run(testRun({ log, model }))).status, 'finished')
  assert.match(textOf(model.requests[0]?.messages), /For later/)
})

test('a message that comes while the model answers is answered before the run ends, after what was said', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('One.'))
  const late = () => {
    log.arrive(userMessage('Two.'))
    return says('First.')
  }
  const model = scriptedModel([late, says('Second.')], { clock })
  assert.equal((await run(testRun({ log, model }))).status, 'finished')
  const [system, one, first, two] = model.requests[1]?.messages ?? []
  assert.deepEqual([system?.role, one?.role, first?.role, two?.role], ['system', 'user', 'assistant', 'user'])
  assert.match(textOf(two), /Two\./)
})

test('a message that comes while a tool runs stands after its result, and a finish does not swallow it', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('One.'))
  const act = actTool(async () => {
    log.arrive(userMessage('Two.'))
    return 'acted'
  })
  const model = scriptedModel([calls(['act', { name: 'a' }], ['finish', { message: 'Done.' }]), says('Second.')], {
    clock,
  })
  assert.equal((await run(testRun({ log, model, tools: [act, finish] }))).status, 'finished')
  const roles = model.requests[1]?.messages.map((message) => message.role)
  assert.deepEqual(roles, ['system', 'user', 'assistant', 'tool', 'tool', 'user'])
})

test('what was said last is no reason to end while a message of the same moment is unread', async () => {
  // The commit of the answer waits until a message has taken the number the answer was given provisionally.
  const messages = [userMessage('Unread.')]
  const log = memoryLog(clock, [], async () => {
    const kindsSoFar = kinds(log.events)
    if (kindsSoFar.at(-1) === 'MessageEvent' && log.events.at(-1)?.source === 'agent') log.arrive(...messages.splice(0))
  })
  log.arrive(userMessage('One.'))
  const model = scriptedModel([says('First.'), says('Second.')], { clock })
  const outcome = await run(testRun({ log, model }))
  const unread = log.stored.find((event) => textOf(event).includes('Unread.'))
  assert.ok(model.requests.length === 2 || outcome.seenSeq < (unread?.seq ?? 0))
})

test('the prompt is built once: a later run sends the same bytes although the time has gone on', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('One.'))
  const model = scriptedModel([says('a'), says('b')], { clock })
  await run(testRun({ log, model }))
  log.arrive(userMessage('Two.'))
  await run(
    testRun({ log, model, systemSuffix: 'changed', clock: { ...clock, now: () => '2030-01-01T00:00:00.000Z' } }),
  )
  assert.deepEqual(model.requests[1]?.messages[0], model.requests[0]?.messages[0])
})

test('the first request is small: prompt and tools together stay under 6 KB', async () => {
  const { tools } = await import('../tools/tools.ts')
  const log = memoryLog(clock)
  log.arrive(userMessage('Hello.'))
  const model = scriptedModel([says('Hi.')], { clock })
  await run(testRun({ log, model, tools }))
  assert.ok(JSON.stringify(model.requests[0]).length < 6_000, String(JSON.stringify(model.requests[0]).length))
})
