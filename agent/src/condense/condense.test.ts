import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent, Usage } from '@parley/contract/events'
import { systemClock as clock } from '@parley/store/clock'
import fc from 'fast-check'
import { run } from '../loop/loop.ts'
import { ModelError, type ModelPart, type ModelRequest } from '../model/model.ts'
import {
  actTool,
  calls,
  finished,
  memoryLog,
  noUsage,
  says,
  scriptedModel,
  testRun,
  userMessage,
  type ScriptedTurn,
} from '../testing.ts'
import { finish } from '../tools/finish.ts'
import { taskTracker } from '../tools/task-tracker.ts'
import { condensers } from './condensers.ts'
import { assertCondenser } from './conformance.ts'
import { llmSummarizingCondenser } from './llm-summarizing.ts'
import { noOpCondenser } from './no-op.ts'

type Condensation = Extract<LogEvent, { kind: 'Condensation' }>
const condensations = (events: readonly LogEvent[]) =>
  events.filter((event): event is Condensation => event.kind === 'Condensation')
const sent = (request: ModelRequest | undefined) => JSON.stringify(request?.messages)
const bytes = (request: ModelRequest) => JSON.stringify(request.messages.map(({ role, parts }) => [role, parts]))
const tokens = (request: ModelRequest) => Math.ceil((bytes(request).length + JSON.stringify(request.tools).length) / 4)

/** A turn whose usage says how large the request was, as a provider does. */
const measured =
  (turn: ModelPart[]): ScriptedTurn =>
  (request) => [
    ...turn.filter((part) => part.type !== 'finish'),
    finished('stop', { ...noUsage, prompt_tokens: tokens(request), completion_tokens: 10 }),
  ]
const isSummary = (request: ModelRequest) => request.toolChoice === 'none'

/** An honest summariser: it writes down every fact that it is shown, and nothing else. */
const summarised = (request: ModelRequest): ModelPart[] => {
  const facts = [...new Set(sent(request).match(/FACT-\w+/g))]
  const usage = { ...noUsage, prompt_tokens: tokens(request), completion_tokens: 100 }
  return [{ type: 'text', text: `Facts: ${facts.join(' ')}` }, finished('stop', usage)]
}

/** Acts `steps` times, and summarises when it is asked to. */
function acting(steps: number, turnOf: (step: number) => ModelPart[], window: number | null) {
  let step = 0
  const turn: ScriptedTurn = (request) => {
    if (isSummary(request)) return summarised(request)
    step += 1
    const next = step > steps ? says('ok') : turnOf(step)
    const made = measured(next)
    return typeof made === 'function' ? made(request) : made
  }
  return scriptedModel(
    Array.from({ length: steps * 2 + 10 }, () => turn),
    { clock, window },
  )
}

test('facts of steps 3, 90 and 200 are known after three condensations of 400 steps, and the notes read the cache', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Fix the login. FACT-GOAL'))
  const planted = new Map([
    [3, 'FACT-PORT8081'],
    [90, 'FACT-BRANCHwip'],
    [200, 'FACT-ERRORenoent'],
  ])
  let last = 0
  const act = actTool(async (name) => {
    last = Number(name)
    if (last === 150) log.arrive(userMessage('Also rename the button. FACT-SECOND'))
    return `${planted.get(last) ?? ''} ${`line of step ${name} `.repeat(60)}`
  })
  const model = acting(400, (step) => calls(['act', { name: String(step) }]), 40_000)
  const outcome = await run(
    testRun({ log, model, tools: [act, finish], policy: { stuckDetection: false, maxIterations: 1_000 } }),
  )
  assert.equal(outcome.status, 'finished')
  assert.equal(last, 400)
  const done = condensations(log.stored)
  assert.ok(done.length >= 3, `${done.length} condensations`)
  assert.ok(done.length <= 8, `${done.length} condensations: each makes room for many steps`)
  for (const one of done) assert.ok((one.tokens_after ?? 0) < (one.tokens_before ?? 0) * 0.6)
  for (const fact of [...planted.values(), 'FACT-GOAL', 'FACT-SECOND'])
    assert.ok(sent(model.requests.at(-1)).includes(fact), fact)
  for (const request of model.requests) {
    assert.ok(tokens(request) < 40_000 * 0.8)
    assert.ok(sent(request).split('Also rename the button').length <= 2, 'an instruction is there once')
  }
  for (const [at, request] of model.requests.entries()) {
    if (!isSummary(request)) continue
    const before = model.requests[at - 1]
    assert.ok(before !== undefined)
    assert.deepEqual(request.tools, before.tools)
    const known = bytes(before).slice(0, -2)
    assert.ok(bytes(request).startsWith(known) && known.length / bytes(request).length >= 0.8, 'the cache is read')
  }
})

test('another worker that takes over after a condensation shows the model the same', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const act = actTool(async (name) => `${name} ${'x'.repeat(4_000)}`)
  const model = acting(60, (step) => calls(['act', { name: String(step) }]), 40_000)
  const options = { tools: [act, finish], policy: { stuckDetection: false } }
  await run(testRun({ log, model, ...options }))
  assert.ok(condensations(log.stored).length > 0)
  const later = [log, memoryLog(clock, structuredClone(log.stored))].map(async (one) => {
    one.arrive(userMessage('And now?'))
    const next = scriptedModel([says('ok')], { clock, window: 40_000 })
    await run(testRun({ log: one, model: next, ...options }))
    return bytes(next.requests[0] ?? ({ messages: [], tools: [] } as unknown as ModelRequest))
  })
  const [same, taken] = await Promise.all(later)
  assert.equal(taken, same)
})

test('the list of tasks and the words of the user outlive every condensation, whatever the notes say', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const act = actTool(async (name) => {
    if (name === '2') log.arrive(userMessage('Never touch the billing code.'))
    return 'x'.repeat(4_000)
  })
  const plan = calls(['task_tracker', { command: 'plan', task_list: [{ title: 'Write the migration' }] }])
  const model = acting(80, (step) => (step === 1 ? plan : calls(['act', { name: String(step) }])), 40_000)
  await run(testRun({ log, model, tools: [act, taskTracker, finish], policy: { stuckDetection: false } }))
  assert.ok(condensations(log.stored).length > 0)
  const last = sent(model.requests.at(-1))
  assert.ok(last.includes('[ ] Write the migration') && last.includes('Never touch the billing code.'))
})

test('large old results are put away first, all in one go, for the price of no call', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const written = new Map<string, string>()
  const files = { write: async (path: string, data: Uint8Array) => void written.set(path, String(data)) }
  const act = actTool(async (name) => (Number(name) <= 8 ? `${name}${'x'.repeat(12_000)}` : 'short'))
  const model = acting(40, (step) => calls(['act', { name: String(step) }]), 36_000)
  const options = {
    tools: [act, finish],
    hands: async () => ({ files, layout: { tmp: '/tmp' } }) as never,
    policy: { stuckDetection: false },
  }
  await run(testRun({ log, model, ...options }))
  const [first, ...more] = condensations(log.stored)
  assert.deepEqual([first?.summary, more.length, model.requests.filter(isSummary).length], [null, 0, 0])
  assert.ok((first?.stubs?.length ?? 0) > 1)
  const last = sent(model.requests.at(-1))
  const [path, text] = [...written][0] ?? ['', '']
  assert.ok(path !== '' && last.includes(`All of it is in ${path}`) && text.length > 12_000)
})

test('max_size condenses by the number of events, and keep_first events stay', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const act = actTool(async (name) => `result ${name}.`)
  const model = acting(40, (step) => calls(['act', { name: String(step) }]), null)
  const condenser = llmSummarizingCondenser({ maxSize: 30, keepFirst: 4 })
  await run(testRun({ log, model, tools: [act, finish], condenser, policy: { stuckDetection: false } }))
  const done = condensations(log.stored)
  assert.ok(done.length >= 2 && done.every(({ reason }) => reason === 'events'))
  const last = sent(model.requests.at(-1))
  assert.ok(last.includes('result 1.') && !last.includes('result 5.') && last.includes('result 40.'))
})

test('what the notes cost is counted apart, and against the budget before the call', async () => {
  const tried = async (maxBudget: number | null) => {
    const log = memoryLog(clock)
    log.arrive(userMessage('Go.'))
    const act = actTool(async () => 'x'.repeat(4_000))
    const acts = acting(30, (step) => calls(['act', { name: String(step) }]), 40_000)
    const priced = { ...acts, cost: (usage: Usage) => (usage.completion_tokens > 1_000 ? 5 : 0.1) }
    const policy = { stuckDetection: false, maxBudget }
    const outcome = await run(testRun({ log, model: priced, tools: [act, finish], policy }))
    return { outcome, spent: log.stored.filter((event) => event.kind === 'LLMCallEvent') }
  }
  const { spent } = await tried(null)
  const at = spent.findIndex((event) => event.usage_id === 'condenser')
  assert.ok(at > 0)
  const short = await tried(at * 0.1 + 0.35)
  assert.deepEqual([short.outcome.code, short.spent.length], ['MaxBudgetReached', at])
})

test('notes that cannot be written cost the older steps, never the run; a provider that is down costs nothing', async () => {
  const failing = async (error: ModelError | null) => {
    const log = memoryLog(clock)
    log.arrive(userMessage('Go.'))
    const act = actTool(async () => 'x'.repeat(4_000))
    const inner = acting(60, (step) => calls(['act', { name: String(step) }]), 40_000)
    const model = {
      ...inner,
      async *stream(request: ModelRequest, signal: AbortSignal) {
        if (!isSummary(request)) return yield* inner.stream(request, signal)
        if (error !== null) throw error
        yield finished('stop')
      },
    }
    const outcome = await run(testRun({ log, model, tools: [act, finish], policy: { stuckDetection: false } }))
    return { outcome, log, inner }
  }
  for (const error of [null, new ModelError('bad_request', 'no'), new ModelError('context_overflow', 'too long')]) {
    const { outcome, inner } = await failing(error)
    assert.equal(outcome.status, 'finished')
    assert.match(sent(inner.requests.at(-1)), /Earlier steps of this conversation are left out/)
  }
  const { outcome, log } = await failing(new ModelError('auth', 'no'))
  assert.deepEqual([outcome.code, condensations(log.stored).length], ['LLMAuthenticationError', 0])
})

test('another model may write the notes; when it cannot, the conversation’s own does', async () => {
  for (const works of [true, false]) {
    const log = memoryLog(clock)
    log.arrive(userMessage('Go.'))
    const act = actTool(async () => 'x'.repeat(4_000))
    const own = acting(30, (step) => calls(['act', { name: String(step) }]), 40_000)
    const turn: ScriptedTurn = works ? summarised : [new ModelError('auth', 'no')]
    const other = { ...scriptedModel(Array(9).fill(turn), { clock }), name: 'scripted/other' }
    const condenser = llmSummarizingCondenser({ model: other })
    await run(testRun({ log, model: own, tools: [act, finish], condenser, policy: { stuckDetection: false } }))
    assert.ok(other.requests.length > 0 && condensations(log.stored).length > 0)
    assert.equal(own.requests.some(isSummary), !works)
  }
})

test('a request to condense is answered once, also by a condenser that keeps everything', async () => {
  for (const condenser of [noOpCondenser, llmSummarizingCondenser()]) {
    const log = memoryLog(clock)
    log.arrive(userMessage('Go.'))
    const act = actTool(async (name) => {
      if (name === '6') log.arrive({ kind: 'CondensationRequest', source: 'user' })
      return `result ${name}`
    })
    const model = acting(9, (step) => calls(['act', { name: String(step) }]), null)
    await run(testRun({ log, model, tools: [act, finish], condenser, policy: { stuckDetection: false } }))
    const [one, ...more] = condensations(log.stored)
    assert.equal(more.length, 0)
    assert.equal((one?.forgotten_event_ids.length ?? 0) > 0, condenser !== noOpCondenser)
  }
})

test('a condenser that can do nothing more is not asked at every step', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage(`Go. ${'y'.repeat(130_000)}`))
  let asked = 0
  const inner = llmSummarizingCondenser()
  const condenser = {
    ...inner,
    condense: (...args: Parameters<typeof inner.condense>) => ((asked += 1), inner.condense(...args)),
  }
  const model = acting(50, (step) => calls(['act', { name: String(step) }]), 40_000)
  const act = actTool(async () => 'short')
  await run(testRun({ log, model, tools: [act, finish], condenser, policy: { stuckDetection: false } }))
  assert.ok(asked > 0 && asked < 5, `${asked} times`)
})

const history = (kinds: readonly number[]): LogEvent[] => {
  const events: LogEvent[] = []
  const add = (event: Record<string, unknown>) => {
    const seq = events.length + 1
    const timestamp = '2026-01-01T00:00:00.000Z'
    events.push({ source: 'agent', id: `e${seq}`, seq, timestamp, parent_id: null, ...event } as LogEvent)
    return `e${seq}`
  }
  const text = (size: number) => [{ type: 'text', text: 'x'.repeat(size), cache_prompt: false }]
  add({ kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content: text(40) } })
  add({ kind: 'SystemPromptEvent', system_prompt: text(400)[0], tools: [], dynamic_context: null })
  for (const [at, kind] of kinds.entries()) {
    const answer = `r${at}`
    const usage = {
      prompt_tokens: 0,
      completion_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      reasoning_tokens: 0,
    }
    if (kind > 1) add({ kind: 'LLMCallEvent', source: 'environment', usage_id: 'default', response_id: answer, usage })
    if (kind === 0) add({ kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content: text(100) } })
    if (kind === 1)
      add({ kind: 'MessageEvent', source: 'agent', llm_message: { role: 'assistant', content: text(100) } })
    if (kind < 2) continue
    const names = kind === 3 ? ['a', 'b'] : ['a']
    const signed = kind === 4 ? { thinking_blocks: [{ type: 'thinking', thinking: 'hm', signature: 's' }] } : {}
    for (const name of names) {
      const call = { tool_name: 'act', tool_call_id: `${answer}${name}`, llm_response_id: answer }
      const tool_call = { id: call.tool_call_id, name: 'act', arguments: '{}' }
      add({
        kind: 'ActionEvent',
        thought: [],
        action: { kind: 'ActAction' },
        tool_call,
        ...call,
        ...(name === 'a' ? signed : {}),
      })
    }
    for (const name of names) {
      const observation = { kind: 'ActObservation', content: text(kind === 5 ? 12_000 : 600), is_error: false }
      add({ kind: 'ObservationEvent', tool_name: 'act', tool_call_id: `${answer}${name}`, observation })
    }
  }
  return events
}

for (const [kind, make] of Object.entries(condensers)) {
  test(`${kind} conforms, whatever the history`, async () => {
    assert.equal(make({}).kind, kind)
    const property = fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 40 }),
      fc.record({ maxSize: fc.option(fc.integer({ min: 20, max: 60 })), keepFirst: fc.integer({ min: 0, max: 6 }) }),
      (kinds, options) => assertCondenser(make(options), history(kinds), 12_000),
    )
    await fc.assert(property, { numRuns: 150 })
  })
}
