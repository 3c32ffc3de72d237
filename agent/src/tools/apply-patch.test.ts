import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hands } from '@parley/sandbox/driver'
import { memoryFiles, testCall } from '../testing.ts'
import { applyPatch } from './apply-patch.ts'
import { assertTool } from './conformance.ts'
import type { ToolContext } from './tool.ts'

function desk(files: Record<string, string>): ToolContext & { read(path: string): Promise<string> } {
  const own = memoryFiles(Object.fromEntries(Object.entries(files).map(([path, text]) => [`/workspace/${path}`, text])))
  return {
    hands: { files: own } as Hands, // a patch needs no more of a sandbox
    workingDir: '/workspace',
    signal: new AbortController().signal,
    onOutput: () => {},
    secretsFor: () => Promise.resolve({}),
    memory: new Map(),
    call: testCall,
    read: async (path) =>
      (await own.stat(`/workspace/${path}`)) === null ? 'absent' : String(await own.read(`/workspace/${path}`)),
  }
}
const patchOf = (...lines: string[]) => ({ patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') })

test('a patch changes, makes, moves and removes files', async () => {
  const at = desk({ 'a.ts': 'one\ntwo\nthree\n', 'b.ts': 'b\n', 'c.ts': 'c\r\nd\r\n' })
  const done = await applyPatch.run(
    patchOf(
      '*** Update File: a.ts',
      '@@',
      ' one',
      '-two',
      '+2',
      '@@',
      '+four',
      '*** End of File',
      '*** Add File: new/n.ts',
      '+n',
      '+',
      '*** Delete File: b.ts',
      '*** Update File: c.ts',
      '*** Move to: d.ts',
      '-c',
      '+C',
    ),
    at,
  )
  assert.equal(done.is_error, false, JSON.stringify(done))
  assert.equal(await at.read('a.ts'), 'one\n2\nthree\nfour\n')
  assert.equal(await at.read('new/n.ts'), 'n\n\n')
  assert.equal(await at.read('b.ts'), 'absent')
  assert.equal(await at.read('c.ts'), 'absent')
  assert.equal(await at.read('d.ts'), 'C\r\nd\r\n')
  assert.equal(done['fuzz'], 0)
})

test('a heading says which of two like places is meant', async () => {
  const at = desk({ 'a.py': 'def f():\n    return 1\n\ndef g():\n    return 1\n' })
  await applyPatch.run(patchOf('*** Update File: a.py', '@@ def g():', '-    return 1', '+    return 2'), at)
  assert.equal(await at.read('a.py'), 'def f():\n    return 1\n\ndef g():\n    return 2\n')
})

test('white space that differs is forgiven and told', async () => {
  const at = desk({ 'a.py': 'if x:\n\treturn 1  \n' })
  const done = await applyPatch.run(patchOf('*** Update File: a.py', '-    return 1', '+\treturn 2'), at)
  assert.equal(await at.read('a.py'), 'if x:\n\treturn 2\n')
  assert.equal(done['fuzz'], 100)
})

test('nothing is changed unless all of a patch fits', async () => {
  const at = desk({ 'a.ts': 'a\n' })
  const done = await applyPatch.run(patchOf('*** Update File: a.ts', '-a', '+b', '*** Delete File: none.ts'), at)
  assert.ok(done.is_error)
  assert.equal(await at.read('a.ts'), 'a\n')
})

test('apply_patch keeps what every tool promises', () =>
  assertTool(applyPatch, desk({ 'a.ts': 'a\n', 'b.ts': 'b\n' }), [
    { patch: 'x' },
    { patch: '*** Begin Patch\n*** Update File: a.ts\n-a\n+b' },
    patchOf(),
    patchOf('what'),
    patchOf('*** Add File: a.ts', '+a'),
    patchOf('*** Add File: ../x', '+a'),
    patchOf('*** Update File: a.ts', '-z', '+b'),
    patchOf('*** Update File: a.ts', '@@ nowhere', '-a', '+b'),
    patchOf('*** Update File: a.ts', '*** Move to: b.ts', '-a', '+b'),
    patchOf('*** Update File: a.ts', '-a', '+b', '*** Update File: a.ts', '-b', '+c'),
    patchOf('*** Update File: none.ts', '-a', '+b'),
  ]))
