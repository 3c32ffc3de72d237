import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { Observation } from '@parley/contract/events'
import type { RunCommand } from '@parley/sandbox/driver'
import { openTestSandbox, type TestSandbox } from '../testing-sandbox.ts'
import { assertTool } from './conformance.ts'
import { glob } from './glob.ts'
import { grep } from './grep.ts'
import { planFile, planningFileEditor } from './planning-file-editor.ts'
import { builtInTools, isKnownTool, type ToolChoice, toolsFor } from './tools.ts'
import { toolset } from './toolset.ts'
import { webFetch } from './web-fetch.ts'
import { webSearch } from './web-search.ts'

let sandbox: TestSandbox
before(async () => {
  sandbox = await openTestSandbox()
  await sandbox.put({
    'src/a.ts': 'export const one = 1\n// TODO one\n',
    'src/deep/b b.ts': 'const two = 2\n',
    'notes.md': 'one note\n',
    'node_modules/x/c.ts': 'const one = 3\n',
    'repo/.gitignore': 'dist\n',
    'repo/dist/out.ts': 'x',
    'repo/in.ts': 'x',
  })
  await sandbox.hands.run({ script: 'cd /workspace && touch -d 2001-01-01 src/a.ts && git -C repo init -q' })
})
after(() => sandbox[Symbol.asyncDispose]())

const textOf = ({ content }: Observation): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('')

test('glob finds files by pattern, the last changed first, without what is ignored', async () => {
  const found = async (pattern: string, path?: string) =>
    (await glob.run(path === undefined ? { pattern } : { pattern, path }, sandbox.desk()))['files']
  assert.deepEqual(await found('src/**/*.ts'), ['src/deep/b b.ts', 'src/a.ts'])
  assert.deepEqual(await found('*.md'), ['notes.md'])
  assert.deepEqual(await found('*.ts', 'repo'), ['in.ts'])
  assert.match(textOf(await glob.run({ pattern: '*.py' }, sandbox.desk())), /No file/)
})

test('grep gives file, line and text, of a folder or a file, and says what is wrong with a pattern', async () => {
  const said = async (input: Parameters<typeof grep.run>[0]) => textOf(await grep.run(input, sandbox.desk()))
  assert.equal(
    (await said({ pattern: 'o[n]e' })).split('\n').toSorted().join('|'),
    'notes.md:1:one note|src/a.ts:1:export const one = 1|src/a.ts:2:// TODO one',
  )
  assert.equal(await said({ pattern: 'const \\w+ = 2', path: 'src', include: '*.ts' }), 'deep/b b.ts:1:const two = 2')
  assert.match(await said({ pattern: 'note', path: 'notes.md' }), /notes\.md:1:one note/)
  assert.equal(await said({ pattern: '-nothing' }), 'Nothing found.')
  const wrong = await grep.run({ pattern: '(' }, sandbox.desk())
  assert.ok(wrong.is_error && /[Uu]n(matched|closed)/.test(textOf(wrong)), textOf(wrong))
})

test('grep finds the same without ripgrep', async () => {
  const bin = '/workspace/.git/bin'
  await sandbox.hands.run({ script: 'mkdir -p "$1" && ln -sf /usr/bin/find /usr/bin/grep "$1"', args: [bin] })
  const desk = sandbox.desk()
  const plain = {
    ...desk,
    hands: { ...desk.hands, run: (command: RunCommand) => desk.hands.run({ ...command, env: { PATH: bin } }) },
  }
  const said = async (input: Parameters<typeof grep.run>[0]) => textOf(await grep.run(input, plain))
  assert.equal(
    await said({ pattern: 'on[e]', include: 'a.ts' }),
    'src/a.ts:1:export const one = 1\nsrc/a.ts:2:// TODO one',
  )
  assert.doesNotMatch(await said({ pattern: 'one' }), /node_modules/)
  assert.equal(await said({ pattern: 'nowhere' }), 'Nothing found.')
  assert.match(await said({ pattern: '(' }), /Unmatched/)
})

const plan = planningFileEditor(planFile(null))

test('a planning agent writes its plan and nothing else', async () => {
  const refused = await plan.run({ command: 'create', path: 'src/new.ts', file_text: 'x' }, sandbox.desk())
  assert.ok(refused.is_error)
  const sneaky = { command: 'create' as const, path: '.agents_tmp/../src/new.ts', file_text: 'x' }
  assert.ok((await plan.run(sneaky, sandbox.desk())).is_error)
  const seen = await plan.run({ command: 'view', path: '.agents_tmp/PLAN.md' }, sandbox.desk())
  assert.match(textOf(seen), /## Implementation Steps/)
  const edit = {
    command: 'str_replace' as const,
    path: '.agents_tmp/PLAN.md',
    old_str: '## Objective\n',
    new_str: '## Objective\nLess.\n',
  }
  assert.equal((await plan.run(edit, sandbox.desk())).is_error, false)
  assert.equal(String(await sandbox.hands.files.read('/workspace/.agents_tmp/PLAN.md')).includes('Less.'), true)
  assert.equal((await plan.run({ command: 'view', path: 'notes.md' }, sandbox.desk())).is_error, false)
})

const usual: ToolChoice = {
  agentType: 'default',
  provider: null,
  web: null,
  children: null,
  agents: [],
  browser: null,
  names: null,
  builtIn: builtInTools,
  filter: null,
}

test('which tools an agent has', () => {
  const names = (choice: Partial<ToolChoice>) => toolsFor({ ...usual, ...choice }).map((tool) => tool.name)
  assert.deepEqual(names({}), ['terminal', 'file_editor', 'task_tracker', 'think', 'finish'])
  assert.deepEqual(names({ agentType: 'plan' }), ['glob', 'grep', 'planning_file_editor', 'think', 'finish'])
  assert.deepEqual(names({ browser: '/usr/bin/chromium' })[3], 'browser')
  assert.ok(!names({ browser: '/usr/bin/chromium', agentType: 'plan' }).includes('browser'))
  assert.deepEqual(names({ web: { fetch, key: 'k' } }).slice(3, 5), ['web_search', 'web_fetch'])
  assert.deepEqual(names({ children: { work: () => Promise.reject(new Error('none')) } })[3], 'delegate')
})

test('tools are chosen by any of their names and by a pattern; built-in ones stay unless they are left out', () => {
  const names = (choice: Partial<ToolChoice>) => toolsFor({ ...usual, ...choice }).map((tool) => tool.name)
  assert.deepEqual(names({ names: ['BashTool', 'ApplyPatchTool', 'nonsense'] }), [
    'terminal',
    'apply_patch',
    'think',
    'finish',
  ])
  assert.deepEqual(names({ names: [], builtIn: ['FinishTool'] }), ['finish'])
  assert.deepEqual(names({ filter: '^(t|none)' }), ['terminal', 'task_tracker', 'think', 'finish'])
  assert.deepEqual(names({ filter: '(' }), ['think', 'finish'], 'what is no pattern lets nothing pass')
  assert.deepEqual(names({ agentType: 'plan', names: ['terminal', 'grep', 'file_viewer'] }), [
    'grep',
    'file_viewer',
    'think',
    'finish',
  ])
  assert.deepEqual(['terminal', 'execute_bash', 'DelegateTool', 'nonsense'].map(isKnownTool), [true, true, true, false])
})

/** A server of this machine for one test. */
async function serving(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('a page is read as text, in pieces, and where it leads', async () => {
  await using site = await serving((request, response) => {
    if (request.url === '/from') return void response.writeHead(302, { location: '/page' }).end()
    if (request.url === '/round') return void response.writeHead(302, { location: '/round' }).end()
    if (request.url === '/image') return void response.setHeader('content-type', 'image/png').end('x')
    if (request.url === '/none') return void response.writeHead(404, { 'content-type': 'text/plain' }).end('gone')
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(
      `<title>t</title><script>no()</script><h1>Head</h1><p>See <a href="/x">this</a>.</p><p>${'y'.repeat(30_000)}</p>`,
    )
  })
  const tool = webFetch(fetch)
  const read = (path: string, start?: number) =>
    tool.run(start === undefined ? { url: site.url + path } : { url: site.url + path, start }, sandbox.desk())
  const page = await read('/from')
  assert.equal(page['url'], `${site.url}/page`)
  assert.match(textOf(page).slice(0, 100), /^t\n+Head\n+See this \[\/x\]\./)
  assert.match(textOf(page).slice(-50), /go on with start 20000\]$/)
  assert.doesNotMatch(textOf(page), /no\(\)/)
  assert.doesNotMatch(textOf(await read('/page', 20_000)), /go on with/)
  for (const path of ['/round', '/image', '/none']) assert.ok((await read(path)).is_error, path)
  assert.ok((await tool.run({ url: 'http://127.0.0.1:1/' }, sandbox.desk())).is_error)
})

test('a search asks the provider with the key, and says when the key is refused', async () => {
  await using site = await serving((request, response) => {
    if (request.headers.authorization !== 'Bearer good') return void response.writeHead(401).end('{}')
    response.end(JSON.stringify({ results: [{ title: 'T', url: 'https://a.example', content: 'C' }] }))
  })
  const search = (key: string) => webSearch({ fetch, key, baseUrl: site.url }).run({ query: 'q' }, sandbox.desk())
  const found = await search('good')
  assert.equal(textOf(found), 'T\nhttps://a.example\nC')
  assert.deepEqual(found['urls'], ['https://a.example'])
  assert.match(textOf(await search('bad')), /refuses the key/)
})

for (const [tool, mistakes] of [
  [glob, [{ pattern: '*', path: 'none' }]],
  [grep, [{ pattern: '(' }, { pattern: 'x', path: 'none' }]],
  [plan, [{ command: 'create', path: 'x', file_text: '' }]],
  [webFetch(fetch), [{ url: 'http://127.0.0.1:1/' }]],
  [webSearch({ fetch, key: '', baseUrl: 'http://127.0.0.1:1' }), [{ query: 'x' }]],
] as const)
  test(`${tool.name} keeps what every tool promises`, () => assertTool(tool, sandbox.desk(), [...mistakes]))

test('all tools together are told to the model in few words', () => {
  const all = [...toolsFor({ ...usual, web: { fetch, key: 'k' } }), glob, grep]
  assert.ok(JSON.stringify(toolset(all, { askRisk: true }).definitions).length < 7_500)
})
