import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hands } from '@parley/sandbox/driver'
import { systemClock as clock } from '@parley/store/clock'
import { run } from '../loop/loop.ts'
import { calls, memoryFiles, memoryLog, says, scriptedModel, testCall, testRun, userMessage } from '../testing.ts'
import { assertTool } from './conformance.ts'
import type { ToolContext } from './tool.ts'
import { tools } from './tools.ts'

const idleShell = { busy: false, close: () => Promise.resolve() }
const context = (): ToolContext => ({
  // The mistakes below end before more of a sandbox is needed.
  hands: {
    files: memoryFiles({ '/workspace/a': 'a\na\n' }),
    shell: () => Promise.resolve(idleShell),
  } as unknown as Hands,
  workingDir: '/workspace',
  signal: new AbortController().signal,
  onOutput: () => {},
  secretsFor: () => Promise.resolve({}),
  memory: new Map(),
  call: testCall,
})

const mistakes: Record<string, Record<string, unknown>[]> = {
  terminal: [{ command: '' }, { command: 'y', is_input: true }, { command: 'x', is_input: true, reset: true }],
  file_editor: [
    { command: 'view', path: 'none' },
    { command: 'create', path: 'a' },
    { command: 'create', path: 'a', file_text: 'x' },
    { command: 'str_replace', path: 'a', old_str: 'a' },
    { command: 'str_replace', path: 'a', old_str: 'a', new_str: 'b' },
    { command: 'insert', path: 'a', insert_line: 7, new_str: 'b' },
    { command: 'undo_edit', path: 'a' },
  ],
  task_tracker: [{ command: 'plan' }],
}

for (const tool of tools)
  test(`${tool.name} keeps what every tool promises`, () => assertTool(tool, context(), mistakes[tool.name] ?? []))

test('no two tools answer to the same name', () => {
  const names = tools.flatMap((tool) => [tool.name, ...tool.aliases]).map((name) => name.toLowerCase())
  assert.equal(new Set(names).size, names.length)
})

test('the list of tasks survives the worker, because it lives in the log', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Plan.'))
  const plan = {
    command: 'plan',
    task_list: [
      { title: 'dig', status: 'done' },
      { title: 'plant', notes: 'roses' },
    ],
  }
  const model = scriptedModel(
    [calls(['task_tracker', plan]), says('planned'), calls(['task_tracker', {}]), says('so')],
    { clock },
  )
  await run(testRun({ log, model, tools }))
  const next = memoryLog(clock, structuredClone(log.stored))
  next.arrive(userMessage('Where are we?'))
  await run(testRun({ log: next, model, tools }))
  assert.match(JSON.stringify(model.requests[3]?.messages.at(-1)), /\[x\] dig\\n\[ \] plant \(roses\)/)
})
