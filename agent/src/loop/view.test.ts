import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '@parley/store/clock'
import type { Message } from '../model/model.ts'
import { ModelError } from '../model/model.ts'
import { actTool, calls, finished, memoryLog, says, scriptedModel, testRun, userMessage } from '../testing.ts'
import { run } from './loop.ts'
import { buildView } from './view.ts'

/** Without the cache marks, which move on. */
const plain = (messages: readonly Message[] = []) => messages.map(({ role, parts }) => ({ role, parts }))

test('each request begins with the very messages of the one before, and another worker builds the same', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('One.'))
  const act = actTool(async (name) => {
    if (name === 'ask') log.arrive(userMessage('Two.'))
    return name.repeat(20)
  })
  const late = () => {
    log.arrive(userMessage('Three.'))
    return calls(['act', { name: 'late' }], ['act', { name: 'later' }])
  }
  const turns = [
    calls(['act', { name: 'ask' }]),
    late,
    calls(['act', { name: 'x' }], ['bad', {}]),
    [finished('stop')],
    says('ok'),
  ]
  const model = scriptedModel(turns, { clock })
  await run(testRun({ log, model, tools: [act] }))
  assert.equal(model.requests.length, 5)
  for (const [at, request] of model.requests.entries()) {
    const before = plain(model.requests[at - 1]?.messages)
    assert.deepEqual(plain(request.messages).slice(0, before.length), before, `request ${at}`)
  }
  const rebuilt = plain(buildView(log.stored, true).messages)
  const last = plain(model.requests.at(-1)?.messages)
  assert.deepEqual(rebuilt.slice(0, last.length), last)
})

test('messages with no answer between them are one message of the user, also after a failed call', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('One.'), userMessage('Two.'))
  const model = scriptedModel([[new ModelError('auth', 'no')], says('ok')], { clock })
  await run(testRun({ log, model }))
  log.arrive(userMessage('Three.'))
  await run(testRun({ log, model }))
  const [, user, ...rest] = model.requests[1]?.messages ?? []
  assert.deepEqual(
    [user?.parts.map((part) => part.type === 'text' && part.text), rest],
    [['One.', 'Two.', 'Three.'], []],
  )
})

test('reasoning is given back with its signature, before the words and calls of its answer', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('One.'))
  const thoughtful = [
    { type: 'reasoning' as const, text: 'be' },
    { type: 'reasoning' as const, text: 'cause' },
    { type: 'reasoning-end' as const, signature: 'sig' },
    { type: 'text' as const, text: 'So' },
    ...calls(['act', { name: 'a' }]),
  ]
  const model = scriptedModel([thoughtful, says('ok')], { clock })
  await run(testRun({ log, model, tools: [actTool(async () => 'done')] }))
  const parts = model.requests[1]?.messages[2]?.parts
  assert.deepEqual(parts?.slice(0, 2), [
    { type: 'reasoning', text: 'because', signature: 'sig' },
    { type: 'text', text: 'So' },
  ])
  assert.equal(parts?.[2]?.type, 'tool-call')
})

test('a model that cannot see is told that there is an image', async () => {
  const log = memoryLog(clock)
  const image = { type: 'image' as const, image_urls: ['data:image/png;base64,AAAA'], cache_prompt: false }
  log.arrive({ kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content: [image] } })
  const model = scriptedModel([says('ok')], { clock, vision: false })
  await run(testRun({ log, model }))
  assert.match(JSON.stringify(model.requests[0]?.messages), /image not shown/)
})

test('a tool result beyond 50,000 characters is cut in the middle for the model only', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('One.'))
  const model = scriptedModel([calls(['act', { name: 'a' }]), says('ok')], { clock })
  await run(testRun({ log, model, tools: [actTool(async () => `begin${'x'.repeat(90_000)}end`)] }))
  const sent = JSON.stringify(model.requests[1]?.messages)
  assert.ok(sent.length < 55_000 && sent.includes('begin') && sent.includes('end') && sent.includes('left out'))
  assert.ok(JSON.stringify(log.stored).length > 90_000)
})
