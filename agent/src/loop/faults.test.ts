import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent } from '@parley/contract/events'
import { systemClock as clock } from '@parley/store/clock'
import { ModelError } from '../model/model.ts'
import {
  actTool,
  calls,
  finished,
  memoryLog,
  says,
  scriptedModel,
  testRun,
  userMessage,
  type ScriptedTurn,
} from '../testing.ts'
import { finish } from '../tools/finish.ts'
import { think } from '../tools/think.ts'
import type { EventOf } from './events.ts'
import { run } from './loop.ts'
import type { Policy } from './policy.ts'

async function tried(turns: ScriptedTurn[], policy: Partial<Policy> = {}, before: LogEvent[] = []) {
  const log = memoryLog(clock, before)
  log.arrive(userMessage('Go.'))
  const model = scriptedModel(turns, { clock })
  const acted: string[] = []
  const act = actTool(async (name) => (acted.push(name), `did ${name}`))
  const outcome = await run(testRun({ log, model, policy, tools: [act, think, finish] }))
  return { log, model, outcome, acted, calls: model.requests.length }
}
const ofKind = <K extends LogEvent['kind']>(events: readonly LogEvent[], kind: K) =>
  events.filter((event): event is EventOf<K> => event.kind === kind)

test('a rate limit is waited for as long as the provider asks, then the run goes on', async () => {
  const limit = new ModelError('rate_limit', '429', { status: 429, retryAfterMs: 20 })
  const { outcome, calls: count, log } = await tried([[limit], [limit], [limit], says('ok')])
  assert.equal(outcome.status, 'finished')
  assert.equal(count, 4)
  assert.deepEqual(
    ofKind(log.stored, 'LLMRetryEvent').map((event) => [event.attempt, event.delay_ms, event.status]),
    [
      [1, 20, 429],
      [2, 20, 429],
      [3, 20, 429],
    ],
  )
  assert.equal(ofKind(log.stored, 'LLMCallEvent')[0]?.attempts, 4)
})

test('an exhausted quota is not retried and is named', async () => {
  const { outcome, calls: count } = await tried([[new ModelError('quota', 'insufficient_quota', { status: 429 })]])
  assert.deepEqual([outcome.status, outcome.code, count], ['error', 'LLMQuotaExceeded', 1])
})

for (const kind of ['transient', 'overloaded'] as const)
  test(`a provider that is ${kind} twice is asked a third time`, async () => {
    const { outcome, calls: count } = await tried([
      [new ModelError(kind, '503')],
      [new ModelError(kind, '503')],
      says('ok'),
    ])
    assert.deepEqual([outcome.status, count], ['finished', 3])
  })

test('a stream that is cut is asked again; its words are never final and its calls never run', async () => {
  const half = calls(['act', { name: 'half' }]).slice(0, 1)
  const { outcome, log, acted } = await tried([[{ type: 'text', text: 'Par' }, ...half], says('Whole.')])
  assert.equal(outcome.status, 'finished')
  assert.deepEqual(acted, [])
  const words = JSON.stringify(log.stored)
  assert.ok(words.includes('Whole.') && !words.includes('"Par"'))
  const attempts = log.deltas.map((delta) => delta.kind === 'StreamingDeltaEvent' && [delta.attempt, delta.offset])
  assert.deepEqual(attempts, [
    [1, 0],
    [2, 0],
  ])
})

test('a stream that falls silent is given up and asked again', async () => {
  const { outcome, calls: count } = await tried([[{ type: 'text', text: 'Hm' }, 60_000], says('ok')], { idleMs: 15 })
  assert.deepEqual([outcome.status, count], ['finished', 2])
})

test('a model that never answers ends the run in error after all attempts, and the next message runs again', async () => {
  const silent: ScriptedTurn = [60_000]
  const { outcome, calls: count, log } = await tried([silent, silent, silent, silent], { firstByteMs: 10 })
  assert.deepEqual([outcome.status, outcome.code, count], ['error', 'LLMUnavailable', 4])
  assert.match(outcome.detail ?? '', /did not begin to answer/)
  log.arrive(userMessage('Again.'))
  const healed = await run(testRun({ log, model: scriptedModel([says('ok')], { clock }) }))
  assert.equal(healed.status, 'finished')
})

test('an answer that drips for ever is ended by its deadline', async () => {
  const drip = Array.from({ length: 500 }, () => [{ type: 'text' as const, text: '.' }, 5]).flat()
  const policy = { timeoutMs: 40, retries: { attempts: 1, multiplier: 1, minWaitMs: 1, maxWaitMs: 1 } }
  const { outcome } = await tried([drip], policy)
  assert.match(outcome.detail ?? '', /not complete/)
})

test('a rejected key is not retried, and the message blames the settings', async () => {
  const { outcome, log, calls: count } = await tried([[new ModelError('auth', '401', { status: 401 })]])
  assert.deepEqual([outcome.code, count], ['LLMAuthenticationError', 1])
  const [event] = ofKind(log.stored, 'ConversationErrorEvent')
  assert.deepEqual(event?.classification, { kind: 'auth', retryable: false, user_action: 'settings' })
})

test('a very long error of a provider is told in at most 4 KiB', async () => {
  const { outcome } = await tried([[new ModelError('bad_request', '<html>'.repeat(10_000))]])
  assert.ok((outcome.detail ?? '').length <= 4096 && outcome.status === 'error')
})

test('an answer beyond 8 MiB is refused', async () => {
  const flood = Array.from({ length: 9 }, () => ({ type: 'text' as const, text: 'x'.repeat(1024 * 1024) }))
  const { outcome } = await tried([[...flood, finished('stop')]])
  assert.equal(outcome.code, 'LLMBadRequest')
})

test('raw control characters in arguments are mended, and what is no JSON gets one error and the loop goes on', async () => {
  const { outcome, log, acted } = await tried([
    calls(['act', '{"name":"two\nlines"}'], ['act', '{"name": oops']),
    calls(['finish', { message: 'ok' }]),
  ])
  assert.equal(outcome.status, 'finished')
  assert.deepEqual(acted, ['two\nlines'])
  const bad = ofKind(log.stored, 'ActionEvent')[1]
  assert.equal(bad?.action, null)
  assert.doesNotThrow(() => JSON.parse(bad?.tool_call.arguments ?? ''))
  assert.equal(ofKind(log.stored, 'AgentErrorEvent').length, 1)
})

test('an unknown tool, the same call id twice and an empty answer each leave one result and no harm', async () => {
  const { outcome, log, acted, model } = await tried([
    calls(['nothing_like_it', {}], ['act', { name: 'a' }, 'same'], ['act', { name: 'b' }, 'same']),
    [finished('stop')],
    calls(['act', { name: 'c' }, 'same']),
    says('ok'),
  ])
  assert.equal(outcome.status, 'finished')
  assert.deepEqual(acted, ['a', 'b', 'c'])
  const actions = ofKind(log.stored, 'ActionEvent').map((event) => event.tool_call_id)
  assert.equal(new Set(actions).size, 4)
  const results = log.stored.filter((event) => event.kind === 'ObservationEvent' || event.kind === 'AgentErrorEvent')
  assert.deepEqual(
    results.map((event) => event.tool_call_id),
    actions,
  )
  assert.match(
    JSON.stringify(model.requests[1]?.messages),
    /There is no tool nothing_like_it. Tools: act, think, finish/,
  )
  assert.match(JSON.stringify(model.requests[2]?.messages.at(-1)), /was empty/)
})

test('a call cut by the output limit is not run, however well the rest of the answer is', async () => {
  const cut: ScriptedTurn = [
    { type: 'tool-call', id: '1', name: 'act', arguments: '{"name":"whole"}' },
    { type: 'tool-call', id: '2', name: 'act', arguments: '{"name":"ha' },
    finished('length'),
  ]
  const { outcome, acted, model } = await tried([cut, says('ok')])
  assert.deepEqual([outcome.status, acted], ['finished', ['whole']])
  assert.match(JSON.stringify(model.requests[1]?.messages), /cut at the output limit/)
})

test('a text cut by the output limit is gone on with', async () => {
  const { outcome, calls: count } = await tried([
    [{ type: 'text', text: 'Half a' }, finished('length')],
    says(' word.'),
  ])
  assert.deepEqual([outcome.status, count], ['finished', 2])
})

test('a model that only ever says nothing ends in error, not in an endless loop', async () => {
  const { outcome, calls: count } = await tried(Array.from({ length: 10 }, () => [finished('stop')]))
  assert.deepEqual([outcome.status, outcome.code, count], ['error', 'EmptyAnswers', 4])
})

test('a refusal of the provider is nudged a few times, then told', async () => {
  const { outcome } = await tried(Array.from({ length: 10 }, () => [finished('refusal')]))
  assert.equal(outcome.code, 'ContentPolicyRefusal')
})

test('a history that is too long is made shorter once and asked again; a second time it is an error', async () => {
  const long = new ModelError('context_overflow', 'too long')
  const acts = ['a', 'b', 'c', 'd'].map((name) => calls(['act', { name }]))
  const { outcome, model, log } = await tried([...acts, [long], says('The notes.'), says('ok')])
  assert.equal(outcome.status, 'finished')
  assert.equal(ofKind(log.stored, 'Condensation').length, 1)
  const messages = JSON.stringify(model.requests.at(-1)?.messages)
  assert.ok(
    !messages.includes('did a') &&
      messages.includes('did d') &&
      messages.includes('The notes.') &&
      messages.includes('Go.'),
  )
  const again = await tried([...acts, [long], says('The notes.'), [long]])
  assert.match(again.outcome.detail ?? '', /system prompt about \d+/)
  assert.deepEqual([again.outcome.status, again.outcome.code], ['error', 'LLMContextWindowExceeded'])
})

test('an image that the provider refuses is taken out of the history, with a notice, and the run goes on', async () => {
  const log = memoryLog(clock)
  const image = { type: 'image' as const, image_urls: ['data:image/png;base64,AAAA'], cache_prompt: false }
  log.arrive({ kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content: [image] } })
  const model = scriptedModel([[new ModelError('bad_request', 'bad image')], says('ok')], { clock })
  assert.equal((await run(testRun({ log, model }))).status, 'finished')
  assert.match(JSON.stringify(model.requests[0]?.messages), /base64,AAAA/)
  assert.doesNotMatch(JSON.stringify(model.requests[1]?.messages), /base64,AAAA/)
  assert.equal(ofKind(log.stored, 'NoticeEvent')[0]?.code, 'images_removed')
})

test('calls after a finish are dropped', async () => {
  const { acted, log } = await tried([calls(['finish', { message: 'ok' }], ['act', { name: 'late' }])])
  assert.deepEqual(acted, [])
  assert.equal(ofKind(log.stored, 'ActionEvent').length, 1)
})
