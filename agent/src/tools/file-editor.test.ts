import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Observation } from '@parley/contract/events'
import type { Hands } from '@parley/sandbox/driver'
import { memoryFiles, testCall } from '../testing.ts'
import { fileEditor } from './file-editor.ts'
import type { ToolContext } from './tool.ts'

function desk(start: Record<string, string | Uint8Array> = {}) {
  const files = memoryFiles(start)
  const memory = new Map<string, unknown>()
  const context: ToolContext = {
    hands: { files } as Hands, // the editor uses files only
    workingDir: '/workspace',
    signal: new AbortController().signal,
    onOutput: () => {},
    secretsFor: () => Promise.resolve({}),
    memory,
    call: testCall,
  }
  const call = (args: Record<string, unknown>) => fileEditor.run(fileEditor.input.parse(args), context)
  const read = async (path: string) => (await files.read(path)).toString('utf8')
  return { files, memory, context, call, read }
}
const said = (observation: Observation) =>
  observation.content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n')

test('a file is shown with line numbers, in the asked range, and the end is clipped with a word', async () => {
  const { call } = desk({ '/workspace/a.txt': 'one\ntwo\nthree\n' })
  assert.equal(said(await call({ command: 'view', path: 'a.txt' })), '1\tone\n2\ttwo\n3\tthree')
  assert.equal(
    said(await call({ command: 'view', path: 'a.txt', view_range: [2, 9] })),
    '2\ttwo\n3\tthree\n[the file ends at line 3]',
  )
  assert.ok((await call({ command: 'view', path: 'a.txt', view_range: [7, 9] })).is_error)
  assert.ok((await call({ command: 'view', path: 'b.txt' })).is_error)
})

test('a large file is shown from its beginning and says which lines are missing', async () => {
  const { call } = desk({ '/workspace/a.txt': 'x'.repeat(99).concat('\n').repeat(1000) })
  const text = said(await call({ command: 'view', path: 'a.txt' }))
  assert.ok(text.length < 17_000)
  assert.match(text, /\[lines 1\d\d to 1000 not shown; use view_range\]$/)
})

test('a directory is shown two levels deep without hidden entries, an image as an image', async () => {
  const { call } = desk({
    '/workspace/a/b/c.txt': '',
    '/workspace/a/d.txt': '',
    '/workspace/.git/x': '',
    '/workspace/p.png': 'PNG',
  })
  assert.equal(
    said(await call({ command: 'view', path: '/workspace' })),
    'a/\n  b/\n  d.txt\np.png\n[1 hidden, not shown]',
  )
  const [image] = (await call({ command: 'view', path: 'p.png' })).content
  assert.deepEqual(image?.type === 'image' && image.image_urls, [
    `data:image/png;base64,${Buffer.from('PNG').toString('base64')}`,
  ])
})

test('a file is made once; a second create is refused', async () => {
  const { call, read } = desk()
  assert.ok(!(await call({ command: 'create', path: 'new/a.txt', file_text: 'hi\n' })).is_error)
  assert.equal(await read('/workspace/new/a.txt'), 'hi\n')
  assert.match(said(await call({ command: 'create', path: 'new/a.txt', file_text: 'other' })), /exists/)
})

test('a text is replaced where it stands once, and the observation holds a diff, not the files', async () => {
  const { call, read } = desk({ '/workspace/a.txt': `${'line\n'.repeat(100_000)}needle\n${'line\n'.repeat(100_000)}` })
  const done = await call({ command: 'str_replace', path: 'a.txt', old_str: 'needle', new_str: 'pin' })
  assert.match(await read('/workspace/a.txt'), /\npin\n/)
  assert.match(String(done['diff']), /-needle\n\+pin/)
  assert.ok(JSON.stringify(done).length < 2_000)
  assert.match(said(done), /100001\tpin/)
})

test('a text that stands there twice, or not quite, is refused with what is there', async () => {
  const { call } = desk({ '/workspace/a.py': 'def f():\n    return  "x"\n\ndef g():\n    return 1\n' })
  assert.match(
    said(await call({ command: 'str_replace', path: 'a.py', old_str: 'return', new_str: 'y' })),
    /2 times, at lines 2, 5/,
  )
  const near = await call({ command: 'str_replace', path: 'a.py', old_str: "def f():\n  return 'x'", new_str: 'y' })
  assert.match(said(near), /Lines 1 to 2 differ only in white space or quotes:\ndef f\(\):\n    return  "x"/)
  const half = await call({ command: 'str_replace', path: 'a.py', old_str: 'def g():\n    return 2', new_str: 'y' })
  assert.match(said(half), /first line is at line 4/)
})

test('a dollar sign in the new text is a dollar sign', async () => {
  const { call, read } = desk({ '/workspace/a': 'x\n' })
  await call({ command: 'str_replace', path: 'a', old_str: 'x', new_str: "$& $1 $'" })
  assert.equal(await read('/workspace/a'), "$& $1 $'\n")
})

test('line ends, byte order mark and foreign bytes stay as they were', async () => {
  const latin = Buffer.from('caf\xe9\nx\n', 'latin1')
  const { call, read, files } = desk({
    '/workspace/dos': '\ufeffa\r\nb\r\n',
    '/workspace/mixed': 'a\r\nb\nc\n',
    '/workspace/latin': latin,
  })
  await call({ command: 'str_replace', path: 'dos', old_str: 'a\nb', new_str: 'a\nnew\nb' })
  assert.equal(await read('/workspace/dos'), '\ufeffa\r\nnew\r\nb\r\n')
  await call({ command: 'str_replace', path: 'mixed', old_str: 'c', new_str: 'd' })
  assert.equal(await read('/workspace/mixed'), 'a\r\nb\nd\n')
  await call({ command: 'str_replace', path: 'latin', old_str: 'x', new_str: 'y' })
  assert.deepEqual(await files.read('/workspace/latin'), Buffer.from('caf\xe9\ny\n', 'latin1'))
})

test('binary files and files beyond 10 MB are refused', async () => {
  const { call } = desk({
    '/workspace/bin': Buffer.from([1, 0, 2]),
    '/workspace/big': Buffer.alloc(10 * 1024 * 1024 + 1, 'x'),
  })
  assert.match(said(await call({ command: 'view', path: 'bin' })), /binary/)
  assert.match(said(await call({ command: 'str_replace', path: 'big', old_str: 'a', new_str: 'b' })), /10 MB/)
})

test('lines are inserted after the given one, at the top and at the end, and not beyond', async () => {
  const { call, read } = desk({ '/workspace/a': '1\n2\n' })
  await call({ command: 'insert', path: 'a', insert_line: 0, new_str: '0' })
  await call({ command: 'insert', path: 'a', insert_line: 3, new_str: '3\n' })
  assert.equal(await read('/workspace/a'), '0\n1\n2\n3\n')
  assert.match(said(await call({ command: 'insert', path: 'a', insert_line: 9, new_str: 'x' })), /within 0 and 4/)
})

test('a line number is refused once the file has changed behind the editor; an exact text still fits and is told', async () => {
  const { call, files } = desk({ '/workspace/a': '1\n2\n' })
  await call({ command: 'view', path: 'a' })
  await files.write('/workspace/a', Buffer.from('0\n1\n2\n'))
  assert.match(
    said(await call({ command: 'insert', path: 'a', insert_line: 1, new_str: 'x' })),
    /changed since you last saw it/,
  )
  assert.match(said(await call({ command: 'str_replace', path: 'a', old_str: '2', new_str: 'two' })), /had changed/)
})

test('edits are undone last first, also after a crash, and not when the file no longer fits', async () => {
  const { call, read, context, files } = desk({ '/workspace/a': 'one\ntwo\n' })
  const observations = [
    await call({ command: 'str_replace', path: 'a', old_str: 'one', new_str: '1' }),
    await call({ command: 'insert', path: 'a', insert_line: 2, new_str: '3' }),
    await call({ command: 'create', path: 'b', file_text: 'new' }),
  ]
  context.memory.clear()
  for (const observation of observations) fileEditor.recall?.(observation, context.memory)
  await call({ command: 'undo_edit', path: 'a' })
  assert.equal(await read('/workspace/a'), '1\ntwo\n')
  await call({ command: 'undo_edit', path: 'a' })
  assert.equal(await read('/workspace/a'), 'one\ntwo\n')
  assert.match(said(await call({ command: 'undo_edit', path: 'a' })), /no edit/)
  await call({ command: 'undo_edit', path: 'b' })
  assert.equal(await files.stat('/workspace/b'), null)
  await call({ command: 'str_replace', path: 'a', old_str: 'one', new_str: '1' })
  await files.write('/workspace/a', Buffer.from('quite other\n'))
  assert.match(said(await call({ command: 'undo_edit', path: 'a' })), /cannot be undone/)
})

test('a call without its command is understood by its other arguments, and other tools’ names of them too', async () => {
  const repair = (args: Record<string, unknown>) => fileEditor.repair?.(args, 'edit')
  assert.deepEqual(repair({ file_path: 'a', old_string: 'x', new_string: 'y' }), {
    command: 'str_replace',
    path: 'a',
    old_str: 'x',
    new_str: 'y',
  })
  assert.equal(repair({ path: 'a' })?.['command'], 'view')
  assert.equal(repair({ path: 'a', content: '' })?.['command'], 'create')
})
