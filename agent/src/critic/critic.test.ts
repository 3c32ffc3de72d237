import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Critic } from '@parley/contract/agent-config'
import type { LogEvent } from '@parley/contract/events'
import { systemClock as clock } from '@parley/store/clock'
import type { z } from 'zod'
import type { CriticResult } from '../loop/closing.ts'
import { run } from '../loop/loop.ts'
import { openTestSandbox, type TestSandbox } from '../testing-sandbox.ts'
import { actTool, calls, memoryLog, says, scriptedModel, testRun, userMessage, type ScriptedTurn } from '../testing.ts'
import { finish } from '../tools/finish.ts'
import { assertCritic } from './conformance.ts'
import type { Scene } from './critic.ts'
import { criticKinds, openCritic } from './critics.ts'
import { sceneIn } from './scene.ts'

let sandbox: TestSandbox
before(async () => void (sandbox = await openTestSandbox()))
after(() => sandbox[Symbol.asyncDispose]())

const never = new AbortController().signal

/** A repository of its own with one commit. */
async function repository(name: string): Promise<{ workingDir: string; baseCommit: string }> {
  const workingDir = `/workspace/${name}`
  const script = `mkdir -p "$1" && cd "$1" && git init -q && git config user.email a@b.c && git config user.name a && echo one > file && git add . && git commit -qm one && git rev-parse HEAD`
  const { stdout } = await sandbox.hands.run({ script, args: [workingDir] })
  return { workingDir, baseCommit: stdout.toString().trim() }
}
const hands = () => Promise.resolve(sandbox.hands)
const shell = (script: string, dir: string) => sandbox.hands.run({ script, cwd: dir })

async function tried(
  critic: z.input<typeof Critic>,
  turns: ScriptedTurn[],
  place: { workingDir: string; baseCommit: string },
  log = memoryLog(clock),
) {
  log.arrive(userMessage('Go.'))
  const act = actTool(async (name) => (await shell(name, place.workingDir), 'did it'))
  const model = scriptedModel(turns, { clock })
  const outcome = await run(
    testRun({ log, model, tools: [act, finish], hands, critic: Critic.parse(critic), ...place }),
  )
  return { log, model, outcome, results: resultsIn(log.stored) }
}
const resultsIn = (events: readonly LogEvent[]): CriticResult[] =>
  events.flatMap((event) =>
    event.kind === 'ConversationStateUpdateEvent' && event.key === 'critic_result' ? [event.value as CriticResult] : [],
  )
const done = calls(['finish', { message: 'Done.' }])
const twice = () => [calls(['finish', { message: 'Done.' }]), calls(['finish', { message: 'Done.' }])]
const refining = { iterative_refinement: {} }

test('the patch has what was committed, what was changed and what is new since the work began', async () => {
  const place = await repository('patch')
  const scene = sceneIn({ hands, clock, finished: true, history: [], ...place })
  assert.equal(await scene.patch(never), '')
  await shell('echo two > new', place.workingDir)
  assert.equal(await scene.patch(never), '?? new')
  await shell('git add . && git commit -qm two && echo three >> file', place.workingDir)
  const patch = await scene.patch(never)
  assert.ok(patch.includes('+two') && patch.includes('+three'))
})

test('an agent that calls finish with nothing done is sent back, and its work is judged again', async () => {
  const place = await repository('finished')
  const turns = [done, calls(['act', { name: 'echo x > file' }]), calls(['finish', { message: 'Now.' }])]
  const { outcome, results, model } = await tried({ kind: 'AgentFinishedCritic', ...refining }, turns, place)
  assert.equal(outcome.status, 'finished')
  assert.deepEqual(
    results.map(({ score, attempt, refined, success }) => [score, attempt, refined, success]),
    [
      [0, 1, true, false],
      [1, 2, false, true],
    ],
  )
  assert.match(JSON.stringify(model.requests[1]?.messages), /Nothing was changed/)
})

test('an agent that is never good enough is sent back three times in a turn, and as often in the next', async () => {
  const place = await repository('bounded')
  const critic: z.input<typeof Critic> = { kind: 'EmptyPatchCritic', ...refining }
  const first = await tried(critic, [...twice(), ...twice()], place)
  assert.deepEqual([first.outcome.status, first.results.length], ['finished', 4])
  const second = await tried(critic, [...twice(), ...twice()], place, memoryLog(clock, first.log.stored))
  assert.deepEqual([second.outcome.status, second.results.length], ['finished', 8])
})

test('a worker that takes over neither judges the same ending again nor forgets how often the agent was sent back', async () => {
  const place = await repository('takeover')
  const critic: z.input<typeof Critic> = { kind: 'EmptyPatchCritic', iterative_refinement: { max_iterations: 1 } }
  const { log } = await tried(critic, twice(), place)
  const judged = log.stored.findLastIndex((event) => event.kind === 'ConversationStateUpdateEvent')
  for (const [upTo, expected] of [
    [judged + 1, 2],
    [judged, 2],
  ] as const) {
    const next = memoryLog(clock, structuredClone(log.stored.slice(0, upTo)))
    const options = { log: next, model: scriptedModel([], { clock }), tools: [finish], hands, ...place }
    assert.equal((await run(testRun({ ...options, critic: Critic.parse(critic) }))).status, 'finished')
    assert.equal(resultsIn(next.stored).length, expected)
  }
})

test('a command judges by its exit code, and the end of its output is what the agent is told', async () => {
  const place = await repository('command')
  const critic: z.input<typeof Critic> = {
    kind: 'CommandCritic',
    command: 'grep -q fixed file || { echo "1 test failed"; exit 1; }',
    ...refining,
  }
  const turns = [done, calls(['act', { name: 'echo fixed > file' }]), calls(['finish', { message: 'Now.' }])]
  const { results, model } = await tried(critic, turns, place)
  assert.deepEqual(
    results.map(({ score }) => score),
    [0, 1],
  )
  assert.match(JSON.stringify(model.requests[1]?.messages), /1 test failed/)
})

test('a text instead of finish is judged but ends the run, and a critic that cannot judge ends nothing', async () => {
  const place = await repository('text')
  const { outcome, results } = await tried({ kind: 'AgentFinishedCritic', ...refining }, [says('A question?')], place)
  assert.deepEqual([outcome.status, results[0]?.score, results[0]?.refined], ['finished', 0, false])
  const nowhere = { workingDir: '/nowhere', baseCommit: 'x' }
  const blind = await tried({ kind: 'EmptyPatchCritic', ...refining }, [done], nowhere)
  assert.deepEqual(
    [blind.outcome.status, blind.results[0]?.score, blind.results[0]?.refined],
    ['finished', null, false],
  )
})

for (const kind of criticKinds) {
  test(`${kind} conforms`, async () => {
    const scene = (patch: string, finished: boolean, code: number | null): Scene => ({
      patch: async () => patch,
      run: async () => ({ code, output: 'output' }),
      finished,
      history: [],
    })
    const parsed = Critic.parse({ kind, command: 'true', api_url: 'http://judge.example' })
    const way = async () => Response.json({ probabilities: { success: 1 } })
    const critic = openCritic(parsed, way)
    assert.equal(critic.kind, kind)
    await assertCritic(critic, [scene('', false, 1), scene('+x', true, 0), scene('+x', false, null)])
  })
}
