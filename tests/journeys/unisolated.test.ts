import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { branchesOf } from '../tools/bare-repository.ts'
import { openForgeServer } from '../tools/forge-server.ts'
import {
  begin,
  forgeToken,
  llmKey,
  observations,
  rest,
  runs,
  say,
  says,
  scriptOf,
  until,
  useModel,
} from '../tools/house.ts'
import { openProgram, processesNamed } from '../tools/program.ts'
import { openScriptedLlm } from '../tools/scripted-llm.ts'

/*
 * The real program where there is no bubblewrap: it says so and does not serve, unless it is told to go without walls.
 * Then everything goes on as behind walls, in plain processes, and every place says that there are none.
 */

const skip = process.getuid?.() === 0 ? false : 'only root can take bubblewrap away from a program'
/** In a mount namespace of its own, where there is nothing in the place of bubblewrap. */
const hiding = 'mount --bind /dev/null /usr/bin/bwrap && exec "$0" "$@"'
const withoutBubblewrap = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', hiding]
const unwalled = { PARLEY_SANDBOX_DANGEROUSLY_UNISOLATED: '1' }
const stack = new AsyncDisposableStack()
after(() => stack.disposeAsync())

/** A number that only this run sleeps for. */
const seconds = randomInt(10_000_000, 100_000_000)
const scripts = {
  change: {
    turns: [
      runs('pwd; echo "$PARLEY_WORKSPACE"; env; git config --list; git remote -v'),
      { tools: [{ name: 'file_editor', args: { command: 'create', path: 'new.txt', file_text: 'new\n' } }] },
      runs('sed -i "s/Widgets/Round widgets/" README.md && git add . && git commit -qm "Round them"'),
      runs('git push -q origin HEAD:refs/heads/rounder && echo pushed'),
      // A job beside the shell, of which a part takes a session of its own.
      {
        tools: [
          { name: 'terminal', args: { command: `setsid sleep ${seconds} & sleep ${seconds}`, background: true } },
        ],
      },
      { text: 'Pushed as rounder.' },
    ],
  },
  again: { turns: [runs('cat new.txt; git log --format=%s | head -1'), { text: 'There.' }] },
}

async function open() {
  const llm = stack.use(await openScriptedLlm(scriptOf(scripts)))
  const repositories = { 'acme/widgets': { members: { ada: 'write' as const }, files: { 'README.md': '# Widgets\n' } } }
  const forge = stack.use(await openForgeServer({ token: forgeToken, repositories, address: '127.0.0.2' }))
  const hosts = [llm.url, forge.url].map((url) => new URL(url).host).join()
  const env = { ...unwalled, PARLEY_PRIVATE_HOSTS: hosts }
  const program = stack.use(await openProgram({ env, through: withoutBubblewrap }))
  await program.start()
  await useModel(program.client, llm.url)
  const tokens = { open_forge: { token: forgeToken, host: forge.url } }
  await program.client.git.connect({ body: { provider_tokens: tokens } })
  return { forge, program, owner: program.client }
}

let work: ReturnType<typeof workOnce> | undefined
/** One conversation for all that is looked at. */
const worked = () => (work ??= workOnce())

async function workOnce() {
  const house = await open()
  const { owner, program } = house
  const id = await begin(owner, says('[[script:change]] Make them round.', { selected_repository: 'acme/widgets' }))
  const { status, events } = await rest(owner, id)
  assert.equal(status, 'finished')
  const sandbox = (await owner.conversations.get({ params: { id } })).sandbox_id ?? ''
  const folder = join(program.dataDir, 'sandboxes', sandbox)
  return { ...house, id, events, said: observations(events), ask: { params: { id: sandbox } }, folder }
}

test('without bubblewrap nothing is served', { skip }, async () => {
  const program = stack.use(await openProgram({ through: withoutBubblewrap }))
  await assert.rejects(program.start(), /cannot isolate sandboxes[^]*\/usr\/bin\/bwrap is missing/)
})

test('told to go without walls, an agent clones behind a token, edits, commits and pushes', { skip }, async () => {
  const { forge, owner, id, said } = await worked()
  assert.equal(said[3]?.split('\n')[0], 'pushed', said.join('\n'))
  const branches = await branchesOf(forge.repositories['acme/widgets'] ?? '')
  assert.deepEqual(
    branches.map(({ name }) => name),
    ['main', 'rounder'],
  )
  const changes = await owner.conversations.gitChanges({ params: { id } })
  assert.deepEqual(changes.map(({ path }) => path).toSorted(), ['README.md', 'new.txt'])
})

test('neither the token nor the key of the model is in its files or variables', { skip }, async () => {
  const { said, folder } = await worked()
  assert.match(said[0] ?? '', /remote\.origin\.url=http/)
  for (const secret of [forgeToken, llmKey]) {
    assert.ok(!said.join('\n').includes(secret))
    assert.deepEqual(await filesWith(folder, secret), [])
  }
})

test(
  'that there are no walls is said at the start, by the doctor, of the sandbox, and to the agent',
  { skip },
  async () => {
    const { program, owner, said, events, ask, folder } = await worked()
    assert.match(program.said(), /warn {2}walls of sandboxes: DANGER: there are none/)
    const findings = await owner.health.examine({})
    assert.ok(findings.some(({ check, ok }) => check === 'walls of sandboxes' && !ok))
    assert.ok(findings.every(({ ok, fatal }) => ok || !fatal))
    assert.match((await owner.sandboxes.get(ask)).status_detail ?? '', /no walls/)
    assert.match(
      JSON.stringify(events.find(({ kind }) => kind === 'SystemPromptEvent')),
      /no walls around this sandbox/,
    )

    assert.equal(said[0]?.split('\n')[0], join(folder, 'workspace', 'project', 'widgets'))
    const { items } = await owner.sandboxSpecs.search({ query: {} })
    assert.match(items[0]?.working_dir ?? '', /sandboxes\/<id of the sandbox>\/workspace\/project$/)
  },
)

test(
  'work goes on after a pause, after a crash of the server, and from a checkpoint in a new sandbox',
  { skip },
  async () => {
    const { program, owner, id, ask } = await worked()
    const goesOn = async (conversation: string) => {
      const at = await say(owner, conversation, '[[script:again]] What is there?')
      const said = observations((await rest(owner, conversation, at)).events)
      assert.match(said.join('\n'), /^new\nRound them/)
    }
    const jobs = () => processesNamed(`sleep\0${seconds}`)
    assert.equal(await jobs(), 2)
    await owner.sandboxes.pause(ask)
    await owner.sandboxes.resume(ask)
    await goesOn(id)
    assert.equal(await jobs(), 2)

    await program.end('SIGKILL')
    await until('what ran in the sandbox has ended', 10_000, async () => (await jobs()) === 0)
    await program.start()
    await goesOn(id)

    await owner.sandboxes.delete(ask)
    const fork = await owner.conversations.fork({ params: { id }, body: {} })
    await goesOn(fork.id)
  },
)

async function filesWith(folder: string, text: string): Promise<string[]> {
  const found = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && (await readFile(path).catch(gone)).includes(text)) found.push(path)
  }
  return found
}

/** What is written while we look takes its name when it is whole: it is read by the other one. */
function gone(error: NodeJS.ErrnoException): Buffer {
  if (error.code === 'ENOENT') return Buffer.alloc(0)
  throw error
}
