import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { api } from '@parley/contract/api'
import { getStartTasks, startConversation } from '@parley/contract/start-tasks'
import { until } from '../../../../tests/tools/house.ts'
import { defaultLimits } from '../../limits.ts'
import { openTestServer } from '../../testing.ts'
import { checkpointsOf } from './save.ts'
import { checkpointStore } from './store.ts'

/* A checkpoint is made from the one before; it is what one from nothing would be, and everything that it names is there. */

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())
const { driver, database } = server.server
const ada = await server.as('ada')

const { id, sandbox } = await begun()
const hands = await driver.hands(sandbox)
const told: { detail?: string }[] = []
const checkpoints = checkpointsOf({
  store: checkpointStore(database),
  sandboxes: { usable: async () => true, hands: async () => hands },
  limits: { ...defaultLimits(), checkpoints: { ...defaultLimits().checkpoints, file: 3_000_000 } },
  tell: async (_, event) => void told.push(event as { detail?: string }),
  log: (message, details) => assert.fail(`${message} ${JSON.stringify(details)}`),
})

async function begun(): Promise<{ id: string; sandbox: string }> {
  const task = await ada(startConversation, { body: {} })
  return until('it has begun', 20_000, async () => {
    const [now] = await ada(getStartTasks, { query: { ids: [task.id] } })
    if (now?.status !== 'READY') return undefined
    const conversation = now.app_conversation_id ?? ''
    const { sandbox_id } = await ada(api.conversations.get, { params: { id: conversation } })
    return { id: conversation, sandbox: sandbox_id ?? '' }
  })
}

async function run(script: string): Promise<void> {
  const { code, stderr } = await hands.run({ script: `set -e; cd /workspace/project; ${script}` })
  assert.equal(code, 0, stderr)
}

/** Paths and texts of all files of the last checkpoint, and its name. Throws when an object is not there. */
async function saved(): Promise<{ root: string; files: Record<string, string> }> {
  const snapshot = await checkpoints.open(id)
  assert.ok(snapshot)
  const files: Record<string, string> = {}
  async function walk(tree: string, path: string): Promise<void> {
    const there = await snapshot?.trees([tree])
    assert.ok(there?.get(tree), `the folder ${path} is not there`)
    for (const { name, kind, oid } of there?.get(tree) ?? []) {
      if (kind === 'folder') await walk(oid, `${path}${name}/`)
      else {
        const bytes = await snapshot?.bytes(oid)
        assert.ok(bytes, `${path}${name} is not there`)
        files[`${path}${name}`] = bytes.length > 100 ? `${bytes.length} bytes` : bytes.toString()
      }
    }
  }
  await walk(snapshot.checkpoint.root, '')
  for (const name of ['refs', 'config']) delete files[name]
  return { root: snapshot.checkpoint.root, files }
}

const ignoring = { 'work/.gitignore': '.env\n' }
const steps: { what: string; script: string; files: Record<string, string> }[] = [
  {
    what: 'a changed file and a changed ignored one',
    script: 'echo two >> a.txt; echo KEY=2 > .env',
    files: { 'work/a.txt': 'one\ntwo\n', 'work/dir/b.txt': 'b\n', 'ignored/.env': 'KEY=2\n' },
  },
  {
    what: 'a folder of another name, and a new file',
    script: 'mv dir moved; echo new > "odd \' name.txt"',
    files: { 'work/a.txt': 'one\ntwo\n', 'work/moved/b.txt': 'b\n', "work/odd ' name.txt": 'new\n' },
  },
  {
    what: 'a folder where a file was, and a link where a folder was',
    script: 'rm a.txt; mkdir a.txt; echo in > a.txt/in.txt; rm -r moved; ln -s a.txt moved; rm odd*',
    files: { 'work/a.txt/in.txt': 'in\n', 'work/moved': 'a.txt' },
  },
  {
    what: 'a repository of one file inside',
    script: 'git init -q part; echo nested > part/only.txt',
    files: { 'work/a.txt/in.txt': 'in\n', 'work/moved': 'a.txt', 'work/part/only.txt': 'nested\n' },
  },
  {
    what: 'more than is read at once, and more than is kept',
    script: 'rm -rf part; head -c 2000000 /dev/zero > large.bin; head -c 4000000 /dev/zero > too-large.bin',
    files: { 'work/a.txt/in.txt': 'in\n', 'work/moved': 'a.txt', 'work/large.bin': '2000000 bytes' },
  },
  {
    what: 'a file that cannot be read',
    script: 'rm *.bin; echo closed > closed.txt; chmod 0 closed.txt; echo open > open.txt',
    files: { 'work/a.txt/in.txt': 'in\n', 'work/moved': 'a.txt', 'work/open.txt': 'open\n' },
  },
  {
    what: 'a commit, and a file that is in the index alone',
    script:
      'rm -f closed.txt open.txt; git add -A; git -c user.name=a -c user.email=a@example.com commit -qm One; echo s > s.txt; git add s.txt; rm s.txt',
    files: {
      'work/a.txt/in.txt': 'in\n',
      'work/moved': 'a.txt',
      'staged/.gitignore': '.env\n',
      'staged/a.txt/in.txt': 'in\n',
      'staged/moved': 'a.txt',
      'staged/s.txt': 's\n',
    },
  },
]

test('each checkpoint is whole, whatever has changed since the one before', async (t) => {
  await run('git init -q .; echo .env > .gitignore; echo KEY=1 > .env; mkdir dir; echo one > a.txt; echo b > dir/b.txt')
  await checkpoints.saveWell(id)
  for (const { what, script, files } of steps)
    await t.test(what, async () => {
      await run(script)
      await checkpoints.save(id)
      assert.deepEqual((await saved()).files, { 'ignored/.env': 'KEY=2\n', ...ignoring, ...files })
    })
  await t.test('nothing', async () => {
    const { root } = await saved()
    await checkpoints.save(id)
    assert.equal((await saved()).root, root)
    assert.deepEqual(
      told.map(({ detail }) => detail?.replace(/^.*sandbox\. /, '')),
      ['Too large: too-large.bin.', 'Some could not be read.'],
    )
  })
  await t.test('the store in the sandbox', async () => {
    const before = await saved()
    await run('rm -r "$HOME/.parley/checkpoints"')
    await checkpoints.saveWell(id)
    assert.deepEqual(await saved(), before)
  })
})
