import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { PluginInput } from '@parley/contract/plugins'
import { openTestSandbox, type TestSandbox } from '../testing-sandbox.ts'
import { fetchPlugin } from './fetch.ts'
import { loadPlugin } from './load.ts'
import { mergedHooks, mergedPlugins } from './merge.ts'
import { withParameters } from './parameters.ts'
import { placeOf, PluginFailed } from './source.ts'

let sandbox: TestSandbox
let first: string
const git = async (script: string): Promise<string> => {
  const { code, stdout, stderr } = await sandbox.hands.run({ script: `cd /workspace/origin && ${script}` })
  assert.equal(code, 0, stderr)
  return stdout.toString('utf8').trim()
}
before(async () => {
  sandbox = await openTestSandbox()
  await sandbox.put({
    'origin/tools/lint/.plugin/plugin.json': '{"name":"lint","version":"1"}',
    'origin/tools/lint/skills/style/SKILL.md': '---\nname: style\ndescription: Our style.\n---\nLevel ${LEVEL:-low}.',
    'origin/tools/lint/commands/fix.md': 'Fix $ARGUMENTS.',
    'origin/tools/lint/agents/judge.md': '---\nname: judge\n---\nJudge.',
    'origin/tools/lint/hooks/hooks.json':
      '{"description":"x","hooks":{"Stop":[{"hooks":[{"command":"${PLUGIN_ROOT}/check.sh"}]}]}}',
    'origin/tools/lint/.mcp.json':
      '{"mcpServers":{"docs":{"command":"node","args":["${PLUGIN_ROOT}/s.js"],"env":{"T":"${TOKEN}"}}}}',
    'origin/broken/hooks/hooks.json': '{"Stopp":[]}',
  })
  const who = '-c user.name=a -c user.email=a@b'
  await git(`git init -q -b main && ln -s /etc out && git add -A && git ${who} commit -qm one`)
  first = await git('git rev-parse HEAD')
  await sandbox.put({ 'origin/tools/lint/skills/style/SKILL.md': '---\nname: style\n---\nSecond.' })
  await git(`git tag v1 && git ${who} commit -qam two`)
})
after(() => sandbox[Symbol.asyncDispose]())

const input = (more: Partial<PluginInput> = {}): PluginInput => ({
  source: 'https://git.example/o/r',
  ref: null,
  repo_path: 'tools/lint',
  parameters: null,
  ...more,
})
const load = async (plugin: PluginInput, url = '/workspace/origin') => {
  const fetched = await fetchPlugin(
    sandbox.hands,
    plugin,
    { kind: 'git', url },
    '/workspace',
    AbortSignal.timeout(30_000),
  )
  return loadPlugin(sandbox.hands, plugin, fetched)
}

test('a plugin brings its skills, commands, hooks and servers, pinned to a commit', async () => {
  const plugin = await load(input({ ref: first, parameters: { LEVEL: 'high' } }))
  assert.equal(plugin.commit, first)
  assert.deepEqual(
    plugin.skills.map(({ name, trigger, content }) => [name, trigger?.type ?? null, content]),
    [
      ['style', null, 'Level high.'],
      ['lint:fix', 'task', 'Fix what the message says after /lint:fix.'],
    ],
  )
  assert.match(plugin.hooks?.stop[0]?.hooks[0]?.command ?? '', /^\/.*\/tools\/lint\/check\.sh$/)
  const docs = plugin.mcp['docs']
  assert.ok(docs?.kind === 'stdio')
  assert.deepEqual(docs.env, { T: '${TOKEN}' }, 'secrets are filled in when the server starts, not before')
  assert.match(Object.keys(plugin.agents).join(), /\/tools\/lint\/agents\/judge\.md$/)
})

test('a tag, a branch and no ref are followed to what they name', async () => {
  assert.equal((await load(input({ ref: 'v1' }))).commit, first)
  const newest = await git('git rev-parse HEAD')
  assert.equal((await load(input({ ref: 'main' }))).commit, newest)
  assert.equal((await load(input())).commit, newest)
})

test('what was fetched once is the same at the next try, whatever happened to the branch', async () => {
  const before = (await load(input({ ref: 'main' }))).commit
  await git('git -c user.name=a -c user.email=a@b commit -q --allow-empty -m three')
  assert.equal((await load(input({ ref: 'main' }))).commit, before)
})

test('a plugin that cannot be had says which and why', async () => {
  const fails = (plugin: PluginInput, why: RegExp, url?: string) =>
    assert.rejects(load(plugin, url), (error) => error instanceof PluginFailed && why.test(error.message))
  await fails(input(), /o\/r could not be fetched:\n.*not.*exist/s, '/workspace/none')
  await fails(input({ ref: 'nowhere' }), /there is no branch, tag or commit nowhere/)
  await fails(input({ repo_path: 'none' }), /has no folder none/)
  await fails(input({ repo_path: 'out' }), /has no folder out/)
  await fails(input({ repo_path: 'broken' }), /hooks\/hooks\.json.*stopp/s)
  await assert.rejects(
    placeOf({ source: 'nosuch:o/r' }, () => Promise.resolve('')),
    PluginFailed,
  )
})

test('where a plugin is said to be', async () => {
  const forge = (kind: string, name: string) => Promise.resolve(`${kind} ${name}`)
  assert.deepEqual(await placeOf({ source: 'github:o/r' }, forge), { kind: 'git', url: 'forge_a o/r' })
  assert.deepEqual(await placeOf({ source: 'https://me:pw@h.example/r.git' }, forge), {
    kind: 'git',
    url: 'https://h.example/r.git',
  })
  assert.deepEqual(await placeOf({ source: 'tools/lint' }, forge), { kind: 'folder', path: 'tools/lint' })
})

test('a folder of the workspace is a plugin too', async () => {
  const plugin = input({ source: 'origin/tools/lint', repo_path: null })
  const place = await placeOf(plugin, () => Promise.reject(new Error('no forge')))
  const fetched = await fetchPlugin(sandbox.hands, plugin, place, '/workspace', AbortSignal.timeout(30_000))
  assert.equal((await loadPlugin(sandbox.hands, plugin, fetched)).name, 'lint')
})

test('of several plugins skills go by name and hooks one after the other', async () => {
  const one = await load(input({ ref: 'v1' }))
  const two = await load(input({ ref: 'main' }))
  const merged = mergedPlugins([one, two])
  assert.deepEqual(
    merged.skills.map(({ name, content }) => [name, content]),
    [
      ['style', 'Second.'],
      ['lint:fix', 'Fix what the message says after /lint:fix.'],
    ],
  )
  assert.equal(merged.hooks?.stop.length, 2)
  assert.equal(mergedHooks([null, null]), null)
})

test('parameters go along with the first message, or are one', () => {
  const plugins = [input({ parameters: { level: 'high', deep: { a: 1 } } }), input({ source: 'x', parameters: {} })]
  const block = 'Plugin Configuration Parameters:\n- level: high\n- deep: {"a":1}'
  assert.deepEqual(withParameters(null, plugins), {
    role: 'user',
    content: [{ type: 'text', text: block, cache_prompt: false }],
    run: true,
  })
  const message = {
    role: 'user' as const,
    content: [{ type: 'text' as const, text: 'Go.', cache_prompt: false }],
    run: false,
  }
  assert.deepEqual(withParameters(message, plugins)?.content, [
    { type: 'text', text: `Go.\n\n${block}`, cache_prompt: false },
  ])
  assert.equal(withParameters(message, []), message)
})
