import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '@parley/store/clock'
import { actTool, calls, memoryLog, says, scriptedModel, testRun, userMessage, type ScriptedTurn } from '../testing.ts'
import { observed } from '../tools/observation.ts'
import { terminal } from '../tools/terminal.ts'
import { run } from './loop.ts'

async function tried(turns: ScriptedTurn[], act: (name: string) => Promise<string> = async (name) => `did ${name}`) {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const model = scriptedModel([...turns, says('ok')], { clock })
  const outcome = await run(testRun({ log, model, tools: [actTool(act)] }))
  const told = log.stored.flatMap((event) =>
    event.kind === 'ConversationStateUpdateEvent' && event.key === 'stuck'
      ? [event.value as { level: number; rule: string }]
      : [],
  )
  return { log, model, outcome, levels: told.map(({ level }) => level), rules: told.map(({ rule }) => rule) }
}
const repeat = (count: number, ...names: string[]) =>
  Array.from({ length: count }, () => names.map((name) => calls(['act', { name }]))).flat()

test('the same deed with the same result is nudged, nudged harder and ends stuck within five rounds, whatever is thought', async () => {
  let thought = 0
  const worded = (): ScriptedTurn => [
    { type: 'text', text: `thought ${(thought += 1)}` },
    ...calls(['act', { name: 'a' }]),
  ]
  const { outcome, levels, model } = await tried(Array.from({ length: 9 }, worded))
  assert.deepEqual([outcome.status, outcome.code, levels], ['stuck', 'repeated_action', [1, 2, 3]])
  assert.equal(model.requests.length, 5)
})

test('times and counters in a result do not make it new', async () => {
  let at = 1000
  const { outcome } = await tried(repeat(9, 'a'), async () => `took ${(at += 7)} ms, see /tmp/x${at}`)
  assert.equal(outcome.status, 'stuck')
})

test('a circle of two, three or four deeds is found', async () => {
  for (const names of [
    ['a', 'b'],
    ['a', 'b', 'c'],
    ['a', 'b', 'c', 'd'],
  ]) {
    const { outcome, rules } = await tried(repeat(8, ...names))
    assert.deepEqual([outcome.status, rules.at(-1)], ['stuck', 'alternation'], names.join())
  }
})

test('a deed that keeps failing is called by its name', async () => {
  const { outcome } = await tried(repeat(9, 'a'), () => Promise.reject(new Error('no')))
  assert.equal(outcome.code, 'repeated_error')
})

test('malformed calls with different arguments are different deeds', async () => {
  const turns = ['1', '2', '3', '4', '5', '6'].map((n) => calls(['act', `{"nam": "${'x'.repeat(Number(n))}"}`]))
  const { levels } = await tried(turns)
  assert.deepEqual(levels, [])
})

test('a new result ends the circle: who is nudged and moves on is not stuck', async () => {
  let count = 0
  const { outcome, levels } = await tried(
    repeat(8, 'a'),
    async () => ((count += 1), 'abcdefgh'[Math.floor((count - 1) / 3)] ?? 'z'),
  )
  assert.equal(outcome.status, 'finished')
  assert.ok(levels.every((level) => level === 1) && levels.length > 0)
})

test('waiting for a running command is no circle', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Build.'))
  const polls = Array.from({ length: 30 }, () => calls(['terminal', { command: '' }]))
  const still = {
    ...terminal,
    handless: true,
    run: async () => observed('TerminalObservation', 'still running', { exit_code: null }),
  }
  const outcome = await run(
    testRun({ log, model: scriptedModel([...polls, says('built')], { clock }), tools: [still] }),
  )
  assert.equal(outcome.status, 'finished')
})

test('a stuck conversation that is run again gets a fresh start', async () => {
  const { log, outcome } = await tried(repeat(9, 'a'))
  assert.equal(outcome.status, 'stuck')
  const model = scriptedModel([calls(['act', { name: 'a' }]), says('ok')], { clock })
  const again = await run(testRun({ log, model, tools: [actTool(async () => 'did a')] }))
  assert.equal(again.status, 'finished')
})

test('a model that talks to itself is stopped', async () => {
  const half: ScriptedTurn = [{ type: 'reasoning', text: 'hm' }, ...says('').slice(1)]
  const { outcome } = await tried(Array.from({ length: 9 }, () => half))
  assert.ok(outcome.status === 'stuck' || outcome.code === 'EmptyAnswers')
})
