import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tool } from '../events/timeline.ts'
import { approval, argumentsOf, refusal } from './answer.ts'

const call = (key: string, kind: string, args: object): Tool =>
  // Only what an answer is made of.
  ({ kind: 'tool', key, action: { action: { kind, ...args }, tool_call: { arguments: JSON.stringify(args) } } }) as Tool
const calls = [
  call('a', 'TerminalAction', { command: 'npm publish', timeout: 5 }),
  call('b', 'FileEditorAction', { command: 'create', path: 'x' }),
]
const all = new Set(['a', 'b'])

test('approving everything as it is says no more than yes', () => {
  assert.deepEqual(approval({ calls, chosen: all, edits: {} }), { accept: true })
})

test('what is left out is named by what is not', () => {
  assert.deepEqual(approval({ calls, chosen: new Set(['b']), edits: {} }), { accept: true, action_ids: ['b'] })
  assert.deepEqual(refusal({ calls, chosen: new Set(['a']) }, ' no '), {
    accept: false,
    action_ids: ['a'],
    reason: 'no',
  })
})

test('an edited command keeps its other arguments, and an edit of what is left out is not sent', () => {
  const edits = { a: 'npm publish --dry-run', b: '{"command":"view"}' }
  assert.deepEqual(approval({ calls, chosen: all, edits })?.edits, {
    a: { command: 'npm publish --dry-run', timeout: 5 },
    b: { command: 'view' },
  })
  assert.deepEqual(approval({ calls, chosen: new Set(['b']), edits })?.edits, { b: { command: 'view' } })
})

test('what is no JSON object cannot be approved', () => {
  assert.equal(approval({ calls, chosen: all, edits: { b: '[1]' } }), null)
  assert.equal(approval({ calls, chosen: all, edits: { b: 'no' } }), null)
  const [, file] = calls
  assert.equal(file && argumentsOf(file, 'null'), null)
})
