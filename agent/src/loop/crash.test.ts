import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent } from '@parley/contract/events'
import { systemClock as clock } from '@parley/store/clock'
import fc from 'fast-check'
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
import { run } from './loop.ts'
import { HandedBack } from './stop.ts'

/** Every action has one result, after it; no result is without an action. */
function assertPaired(events: readonly LogEvent[]): void {
  const open = new Map<string, boolean>()
  for (const event of events) {
    if (event.kind === 'ActionEvent') {
      assert.ok(!open.has(event.tool_call_id), 'a call id is used once')
      open.set(event.tool_call_id, true)
    } else if (
      event.kind === 'ObservationEvent' ||
      event.kind === 'AgentErrorEvent' ||
      event.kind === 'UserRejectObservation'
    ) {
      assert.equal(open.get(event.tool_call_id), true, `one result for ${event.tool_call_id}`)
      open.set(event.tool_call_id, false)
    }
  }
  assert.ok(
    [...open.values()].every((one) => !one),
    'no call is left open',
  )
}

const turnOf = (turn: number, kind: number): ScriptedTurn => {
  if (kind === 0) return calls(['act', { name: `${turn}a` }], ['act', { name: `${turn}b` }])
  if (kind === 1) return calls(['act', { name: `${turn}c` }])
  if (kind === 2) return calls(['nothing', {}], ['act', { name: `${turn}d` }])
  return kind === 3 ? [finished('stop')] : says('so far')
}

test('a worker may die at any moment: no action runs twice, every call gets one result, and the run comes to its end', async () => {
  const property = fc.asyncProperty(
    fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 2, maxLength: 6 }),
    fc.array(fc.integer({ min: 0, max: 25 }), { minLength: 1, maxLength: 4 }),
    fc.integer({ min: 1, max: 3 }),
    async (kinds, deaths, toolConcurrency) => {
      const acted = new Map<string, number>()
      let stored: LogEvent[] = []
      let turn = 0
      const turns = (): ScriptedTurn[] =>
        Array.from({ length: 40 }, () => () => {
          const next = turnOf(turn, kinds[turn] ?? 4)
          turn += 1
          return typeof next === 'function' ? [] : next
        })
      for (const death of [...deaths, Infinity]) {
        const control = new AbortController()
        let steps = 0
        const tick = () => {
          steps += 1
          if (steps > death) control.abort(new HandedBack())
        }
        const log = memoryLog(clock, stored, async () => tick())
        if (death !== Infinity || stored.length === 0) log.arrive(userMessage(`message ${stored.length}`))
        const act = actTool(async (name) => {
          acted.set(name, (acted.get(name) ?? 0) + 1)
          tick()
          if (control.signal.aborted) await new Promise(() => {})
          return `did ${name}`
        })
        const options = { log, model: scriptedModel(turns(), { clock }), tools: [act], signal: control.signal }
        const outcome = await run(testRun({ ...options, policy: { toolConcurrency, stuckDetection: false } })).catch(
          (error: unknown) => {
            assert.ok(error instanceof HandedBack, String(error))
            return null
          },
        )
        stored = structuredClone(log.stored)
        if (outcome !== null) assertPaired(stored)
        if (death === Infinity) assert.ok(outcome !== null)
      }
      for (const [name, times] of acted) assert.equal(times, 1, `${name} ran once`)
    },
  )
  await fc.assert(property, { numRuns: 60 })
})

test('an action without a result is told as unknown, once, and the tool is not asked again', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const control = new AbortController()
  const hangs = actTool(() => {
    control.abort(new HandedBack())
    return new Promise(() => {})
  })
  const model = scriptedModel([calls(['act', { name: 'push' }]), says('checked')], { clock })
  await run(testRun({ log, model, tools: [hangs], signal: control.signal })).catch(() => {})
  for (const round of [1, 2]) {
    const next = memoryLog(clock, structuredClone(log.stored))
    await run(testRun({ log: next, model: scriptedModel([says('checked')], { clock }), tools: [hangs] }))
    assert.equal(next.stored.filter((event) => event.kind === 'AgentErrorEvent').length, 1, `round ${round}`)
    assertPaired(next.stored)
  }
})
