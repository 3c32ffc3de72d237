import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent } from '@parley/contract/events'
import { SandboxGone } from '@parley/sandbox/driver'
import { systemClock as clock } from '@parley/store/clock'
import { Fenced } from '../log.ts'
import { actTool, calls, memoryLog, says, scriptedModel, testRun, userMessage } from '../testing.ts'
import { finish } from '../tools/finish.ts'
import type { Tool } from '../tools/tool.ts'
import { run } from './loop.ts'
import { HandedBack, Interrupted, PauseRequested } from './stop.ts'

const kinds = (events: readonly LogEvent[]) => events.map((event) => event.kind)
const started = () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  return log
}
const untilAborted = (signal: AbortSignal) =>
  new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('stopped half-way')))

test('a pause lets the step under way end, and the next run goes on where it was', async () => {
  const log = started()
  const act = actTool(async () => {
    log.arrive({ kind: 'PauseEvent', source: 'user' })
    return 'whole'
  })
  const model = scriptedModel([calls(['act', { name: 'a' }]), says('ok')], { clock })
  const options = { log, model, tools: [act, finish] }
  assert.equal((await run(testRun(options))).status, 'paused')
  assert.equal(kinds(log.stored).at(-1), 'ObservationEvent')
  assert.equal((await run(testRun(options))).status, 'finished')
  assert.equal(model.requests.length, 2)
})

test('a pause by the signal is a pause too', async () => {
  const log = started()
  const control = new AbortController()
  const act = actTool(async () => {
    control.abort(new PauseRequested())
    return 'whole'
  })
  const model = scriptedModel([calls(['act', { name: 'a' }])], { clock })
  assert.equal((await run(testRun({ log, model, tools: [act], signal: control.signal }))).status, 'paused')
  assert.match(JSON.stringify(log.stored), /whole/)
})

test('an interrupt that anybody stores stops a running tool at once, and every call gets one result', async () => {
  const log = started()
  const act = actTool(async (_name, { signal }) => {
    log.arrive({ kind: 'InterruptEvent', source: 'user' })
    return untilAborted(signal)
  })
  const model = scriptedModel([calls(['act', { name: 'a' }], ['act', { name: 'b' }]), says('ok')], { clock })
  const options = { log, model, tools: [act, finish] }
  assert.equal((await run(testRun(options))).status, 'paused')
  assert.deepEqual(kinds(log.stored).slice(-5), [
    'ActionEvent',
    'ActionEvent',
    'InterruptEvent',
    'ObservationEvent',
    'AgentErrorEvent',
  ])
  assert.match(JSON.stringify(log.stored.at(-1)), /before this action started/)
  log.arrive(userMessage('Go on.'))
  assert.equal((await run(testRun(options))).status, 'finished')
})

test('a tool that ignores an interrupt is given up after its grace', async () => {
  const log = started()
  const control = new AbortController()
  const act = actTool(async () => {
    control.abort(new Interrupted())
    return new Promise(() => {})
  })
  const quick = { ...clock, sleep: (ms: number, signal?: AbortSignal) => clock.sleep(Math.min(ms, 20), signal) }
  const model = scriptedModel([calls(['act', { name: 'a' }])], { clock })
  const outcome = await run(testRun({ log, model, tools: [act], signal: control.signal, clock: quick }))
  assert.equal(outcome.status, 'paused')
  assert.deepEqual(kinds(log.stored).slice(-2), ['AgentErrorEvent', 'InterruptEvent'])
})

test('an interrupt ends a call of the model, and nothing of its half answer stays', async () => {
  const log = started()
  const slow = () => {
    log.arrive({ kind: 'InterruptEvent', source: 'user' })
    return [{ type: 'text' as const, text: 'Half' }, 60_000]
  }
  const model = scriptedModel([slow, says('ok')], { clock })
  assert.equal((await run(testRun({ log, model }))).status, 'paused')
  assert.doesNotMatch(JSON.stringify(log.stored), /Half/)
  assert.equal(kinds(log.stored).filter((kind) => kind === 'InterruptEvent').length, 1)
})

test('an interrupt ends the wait before a retry', async () => {
  const log = started()
  const { ModelError } = await import('../model/model.ts')
  const down = () => {
    log.arrive({ kind: 'InterruptEvent', source: 'user' })
    return [new ModelError('transient', '503', { retryAfterMs: 60_000 })]
  }
  assert.equal((await run(testRun({ log, model: scriptedModel([down], { clock }) }))).status, 'paused')
})

test('a run that is handed back writes no further word, and the next worker never repeats the action', async () => {
  const log = started()
  const control = new AbortController()
  let acted = 0
  const act = actTool(async (_name, { signal }) => {
    acted += 1
    control.abort(new HandedBack())
    return untilAborted(signal)
  })
  const model = scriptedModel([calls(['act', { name: 'a' }]), says('ok')], { clock })
  await assert.rejects(run(testRun({ log, model, tools: [act], signal: control.signal })), HandedBack)
  assert.equal(kinds(log.stored).at(-1), 'ActionEvent')
  const next = memoryLog(clock, log.stored)
  assert.equal((await run(testRun({ log: next, model, tools: [act] }))).status, 'finished')
  assert.equal(acted, 1)
  assert.match(JSON.stringify(model.requests.at(-1)?.messages.at(-1)), /check before repeating/)
})

test('a worker that has lost the conversation ends with Fenced, and does not act', async () => {
  const log = started()
  let acted = 0
  const act = actTool(async () => String((acted += 1)))
  const model = scriptedModel([() => (log.fence(), calls(['act', { name: 'a' }]))], { clock })
  await assert.rejects(run(testRun({ log, model, tools: [act] })), Fenced)
  assert.equal(acted, 0)
})

test('a sandbox that cannot be had ends the run in error with every call closed', async () => {
  const log = started()
  const act = actTool(async () => 'never')
  const model = scriptedModel([calls(['act', { name: 'a' }], ['act', { name: 'b' }])], { clock })
  const hands = () => Promise.reject(new Error('no room'))
  const outcome = await run(testRun({ log, model, tools: [act], hands }))
  assert.deepEqual([outcome.status, outcome.code], ['error', 'SandboxUnavailable'])
  assert.equal(kinds(log.stored).filter((kind) => kind === 'AgentErrorEvent').length, 2)
})

test('a sandbox that ends during a call is asked for again by the next', async () => {
  const log = started()
  let asked = 0
  const hands = async () => ((asked += 1), {} as never)
  const act = actTool(async (name) => {
    if (name === 'first') throw new SandboxGone('killed: out of memory')
    return 'well'
  })
  const model = scriptedModel([calls(['act', { name: 'first' }]), calls(['act', { name: 'then' }]), says('ok')], {
    clock,
  })
  assert.equal((await run(testRun({ log, model, tools: [act], hands }))).status, 'finished')
  assert.equal(asked, 2)
  assert.match(JSON.stringify(model.requests[1]?.messages), /out of memory.*outcome|took effect is unknown/)
})

test('a pause leaves a call open that can be taken up again, and what would come after it does not begin', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const begun: string[] = []
  let release = false
  const act = actTool(async (name) => (begun.push(name), name))
  const wait: Tool = {
    ...actTool(async (name, { call, signal }) => {
      begun.push(`${name} ${call.id.length}`)
      if (release) return 'waited'
      setTimeout(() => log.arrive({ kind: 'PauseEvent', source: 'user' }), 20)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }),
    name: 'wait',
    resumes: true,
  }
  const model = scriptedModel([calls(['wait', { name: 'w' }], ['act', { name: 'a' }]), says('Done.')], { clock })
  const options = { log, model, tools: [wait, act] }
  assert.equal((await run(testRun(options))).status, 'paused')
  assert.deepEqual(begun, ['w 36'])
  const results = log.stored.filter(({ kind }) => kind === 'ObservationEvent' || kind === 'AgentErrorEvent')
  assert.match(JSON.stringify(results), /^\[\{[^[]*"tool_name":"act"[^[]*Not executed: the run was paused/)
  release = true
  log.arrive({ kind: 'ConversationStateUpdateEvent', source: 'user', key: 'run_requested', value: true })
  assert.equal((await run(testRun(options))).status, 'finished')
  assert.deepEqual(begun, ['w 36', 'w 36'], 'the same call again')
  assert.match(JSON.stringify(model.requests[1]?.messages), /waited/)
})
