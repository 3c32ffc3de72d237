import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { propose } from './arguments.ts'
import { tools } from './tools.ts'
import { toolset } from './toolset.ts'

const set = toolset(tools, { askRisk: true })
const read = (name: string, args: string, cut = false) => propose({ id: '1', name, arguments: args }, set, cut)

test('a call under another name of the tool is that tool', () => {
  for (const name of ['terminal', 'execute_bash', 'bash', 'TerminalTool', 'Terminal'])
    assert.equal(read(name, '{"command":"ls"}').call.name, 'terminal', name)
  assert.deepEqual(read('git', '{"command":"status"}').input, { command: 'git status' })
  assert.deepEqual(read('grep', '{"pattern":"a b","path":"src"}').input, { command: "grep 'a b' src" })
  assert.equal(read('str_replace_editor', '{"path":"a"}').call.name, 'file_editor')
})

test('stray markup after a name is cut', () => {
  assert.equal(read('terminal<|channel|>x', '{"command":"ls"}').call.name, 'terminal')
})

test('lists, numbers and booleans written as strings are read as what they spell', () => {
  assert.deepEqual(
    read('file_editor', '{"command":"view","path":"a","view_range":"[1, 5]"}').input?.['view_range'],
    [1, 5],
  )
  const { input } = read('terminal', '{"command":"ls","timeout":"10","is_input":"False"}')
  assert.deepEqual(input, { command: 'ls', timeout: 10, is_input: false })
})

test('nulls count as absent, and what follows a complete object is dropped', () => {
  assert.deepEqual(read('terminal', '{"command":"ls","timeout":null} trailing').input, { command: 'ls' })
})

test('line ends inside strings are mended, and a string without an end is given up at once', () => {
  assert.deepEqual(read('terminal', '{"command":"a\nb"}').input, { command: 'a\nb' })
  const began = performance.now()
  assert.equal(read('terminal', `{"command":"${'say \\"x\\" '.repeat(100_000)}`).input, null)
  assert.ok(performance.now() - began < 5_000)
})

test('nothing is mended in a call that was cut', () => {
  assert.equal(read('terminal', '{"command":"rm -r build"} {"comm', true).input, null)
  assert.notEqual(read('terminal', '{"command":"ls"}', true).input, null)
})

test('summary and risk are for the platform, not for the tool, and small mistakes in the risk are forgiven', () => {
  const { input, summary, risk } = read('terminal', '{"command":"ls","summary":"List","security_risk":"medium "}')
  assert.deepEqual([input, summary, risk], [{ command: 'ls' }, 'List', 'MEDIUM'])
  assert.equal(read('terminal', '{"command":"ls"}').risk, 'UNKNOWN')
})

test('wrong arguments are named without their values', () => {
  const { error, input } = read('file_editor', '{"command":"destroy","path":"hunter2"}')
  assert.equal(input, null)
  assert.match(error ?? '', /Wrong arguments for file_editor: command/)
  assert.doesNotMatch(error ?? '', /hunter2|destroy/)
})

test('whatever a model sends, what is stored is valid JSON and nothing throws', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('terminal', 'file_editor', 'x', ''),
      fc.oneof(fc.string(), fc.json()),
      fc.boolean(),
      (name, text, cut) => {
        const { call, error, input } = read(name, text, cut)
        JSON.parse(call.arguments)
        assert.ok(call.name !== '' && (error === null) !== (input === null))
      },
    ),
  )
})

test('the risk is asked only of tools that change something', () => {
  const asks = set.definitions
    .filter((one) => JSON.stringify(one.schema).includes('security_risk'))
    .map((one) => one.name)
  assert.deepEqual(asks, ['terminal', 'file_editor'])
})
