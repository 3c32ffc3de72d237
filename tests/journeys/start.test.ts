import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parley } from '@parley/client/client'
import { api } from '@parley/contract/api'
import type { StartRequestInput } from '@parley/contract/start-request'
import type { StartTask } from '@parley/contract/start-tasks'
import { begin, eventsOf, observations, ofKind, openHouse, rest, runs, says, until } from '../tools/house.ts'

/* Starts that cannot succeed, and what a repository has to say about how work in it begins. */

const readable = { members: { ada: 'write' } } as const

const hidden = 'a-value-of-ada-that-nobody-prints'
const house = await openHouse({
  repositories: {
    'acme/widgets': { ...readable, branches: { 'feature/round': { 'round.txt': 'round\n' } } },
    'acme/prepared': {
      ...readable,
      files: {
        '.parley/setup.sh': 'echo prepared > prepared.txt; echo set up\n',
        '.parley/pre-commit.sh':
          'if git diff --cached | grep -q forbidden; then echo "no forbidden words"; exit 1; fi\n',
      },
    },
    'acme/broken': { ...readable, files: { '.parley/setup.sh': 'echo about to fail; exit 7\n' } },
    'acme/slow': { ...readable, files: { '.parley/setup.sh': `echo fetching; echo ${hidden}; sleep 2\n` } },
    'bob/secret': { members: {} },
  },
  unfilled: { 'acme/absent': readable },
  scripts: {
    commit: {
      turns: [
        runs('cat prepared.txt; git status --short'),
        runs('echo forbidden > a.txt; git add a.txt; git commit -qm one; echo "code $?"'),
        runs('echo allowed > a.txt; git add a.txt; git commit -qm two; echo "code $?"'),
        { text: 'Done.' },
      ],
    },
    look: { turns: [runs('git branch --show-current; ls'), { text: 'Done.' }] },
  },
})
after(() => house[Symbol.asyncDispose]())
const { ada, forge } = house

const tasks = async () => (await ada.startTasks.count({})) as number

/** The start to its end, as its caller sees it. */
async function followed(request: StartRequestInput): Promise<StartTask[]> {
  const seen: StartTask[] = []
  for await (const task of await ada.call(api.conversations.streamStart, { body: request })) seen.push(task)
  return seen
}

async function failing(request: StartRequestInput): Promise<StartTask> {
  const last = (await followed(request)).at(-1)
  assert.equal(last?.status, 'ERROR')
  assert.deepEqual([last.app_conversation_id, last.sandbox_id, last.agent_server_url], [null, null, null])
  await until('the sandbox of a failed start is gone', 10_000, async () => {
    const { items } = await ada.sandboxes.search({})
    const there = await house.server.server.driver.list()
    return items.every((one) => one.id !== last.id) && there.every((one) => one.id !== last.id)
  })
  return last
}

test('a start goes through every status once and in order, and its addresses are there at the end only', async () => {
  const seen = await followed({ selected_repository: 'acme/widgets' })
  assert.deepEqual(
    seen.map((task) => task.status),
    [
      'WORKING',
      'WAITING_FOR_SANDBOX',
      'PREPARING_REPOSITORY',
      'RUNNING_SETUP_SCRIPT',
      'SETTING_UP_GIT_HOOKS',
      'SETTING_UP_SKILLS',
      'STARTING_CONVERSATION',
      'READY',
    ],
  )
  const last = seen.pop()
  for (const task of seen)
    assert.deepEqual([task.app_conversation_id, task.sandbox_id, task.agent_server_url], [null, null, null])
  const conversation = await ada.conversations.get({ params: { id: last?.app_conversation_id ?? '' } })
  assert.equal(conversation.sandbox_id, last?.sandbox_id)
  const [again] = await ada.startTasks.getMany({ query: { ids: [last?.id ?? ''] } })
  assert.deepEqual(again, last)
})

test('a wrong repository and one without access are refused alike, before there is a task', async () => {
  const before = await tasks()
  const refusals = await Promise.all(
    ['acme/nowhere', 'bob/secret'].map((selected_repository) =>
      ada.conversations.start({ body: { selected_repository } }).then(
        () => assert.fail('the start was accepted'),
        (error: { code: string; status: number; detail: string }) => [error.code, error.status, error.detail],
      ),
    ),
  )
  assert.deepEqual(refusals[0]?.slice(0, 2), ['repository_not_accessible', 403])
  assert.deepEqual(refusals[0], refusals[1])
  assert.equal(await tasks(), before)
})

test('a token that its forge no longer takes is refused before there is a task', async () => {
  const before = await tasks()
  forge.fault = { kind: 'status', status: 401 }
  try {
    const start = ada.conversations.start({ body: { selected_repository: 'acme/widgets' } })
    await assert.rejects(start, { status: 403, code: 'repository_not_accessible' })
  } finally {
    forge.fault = null
  }
  assert.equal(await tasks(), before)
})

test('a clone that fails is an error that says why, and the sandbox is gone', async () => {
  const task = await failing({ selected_repository: 'acme/absent' })
  assert.match(task.detail ?? '', /^authentication error: the repository could not be cloned:/)
})

test('a branch that does not exist is an error that names it', async () => {
  const task = await failing({ selected_repository: 'acme/widgets', selected_branch: 'feature/square' })
  assert.match(task.detail ?? '', /^PREPARING_REPOSITORY: .*feature\/square/s)
})

test('a start on a branch works on that branch, and one without makes its own', async () => {
  const branch = { selected_repository: 'acme/widgets', selected_branch: 'feature/round' }
  const [on, own] = await Promise.all([
    begin(ada, says('[[script:look]] Look.', branch)),
    begin(ada, says('[[script:look]] Look.', { selected_repository: 'acme/widgets' })),
  ])
  assert.match(observations((await rest(ada, on)).events)[0] ?? '', /^feature\/round\s[^]*round\.txt/)
  assert.match(observations((await rest(ada, own)).events)[0] ?? '', /^parley-workspace-\w{8}\s/)
})

test('the setup script has run before the agent begins, and the pre-commit script guards its commits', async () => {
  const id = await begin(ada, says('[[script:commit]] Commit.', { selected_repository: 'acme/prepared' }))
  const { events } = await rest(ada, id)
  const said = observations(events)
  assert.match(said[0] ?? '', /^prepared/)
  assert.match(said[1] ?? '', /no forbidden words[^]*code 1/)
  assert.match(said[2] ?? '', /code 0/)
  const notice = ofKind(events, 'NoticeEvent')[0]
  assert.equal(notice?.level, 'info')
  assert.match(String(notice?.detail), /set up/)
})

test('a setup script that fails is a warning with its output, or an error where it is required', async () => {
  const id = await begin(ada, { selected_repository: 'acme/broken' })
  const [notice] = ofKind(await eventsOf(ada, id), 'NoticeEvent')
  assert.equal(notice?.level, 'warning')
  assert.match(String(notice?.detail), /ended with code 7[^]*about to fail/)

  await ada.settings.update({ body: { setup_script_required: true } })
  const task = await failing({ selected_repository: 'acme/broken' })
  assert.match(task.detail ?? '', /^RUNNING_SETUP_SCRIPT: .*code 7[^]*about to fail/)
  await ada.settings.update({ body: { setup_script_required: false } })
})

test('what the clone and the setup script print is read while they run, without secrets', async () => {
  await ada.secrets.create({ body: { name: 'HIDDEN', value: hidden } })
  const task = await ada.conversations.start({ body: { selected_repository: 'acme/slow' } })
  const ask = { params: { id: task.id } }
  const log = await until('the setup script has printed', 20_000, async () => {
    const now = await ada.startTasks.log(ask)
    return now.status === 'RUNNING_SETUP_SCRIPT' && now.output.includes('fetching') && now
  })
  assert.equal(log.output, 'fetching\n<secret:HIDDEN>\n')
  assert.deepEqual(
    log.steps.map(({ status }) => status),
    ['WORKING', 'WAITING_FOR_SANDBOX', 'PREPARING_REPOSITORY', 'RUNNING_SETUP_SCRIPT'],
  )
  const end = await until('it is ready', 20_000, async () => {
    const now = await ada.startTasks.log(ask)
    return now.status === 'READY' && now
  })
  assert.equal(end.output, '')
  const bob = parley({ baseUrl: house.server.url, key: await house.server.keyOf('bob') })
  await assert.rejects(bob.startTasks.log(ask), { code: 'not_found' })
})

test('what a failed clone has printed stays', async () => {
  const { id } = await failing({ selected_repository: 'acme/absent' })
  const { steps, output } = await ada.startTasks.log({ params: { id } })
  assert.match(output, /^Cloning into/)
  assert.match(steps.at(-1)?.detail ?? '', /could not be cloned/)
})

test('a start that is asked for again with its conversation id is the same start', async () => {
  const conversation_id = crypto.randomUUID()
  const body = { ...says('[[script:look]] Once.'), conversation_id }
  const all = await Promise.all(Array.from({ length: 10 }, () => ada.conversations.start({ body })))
  assert.equal(new Set(all.map((task) => task.id)).size, 1)
  for (const other of [
    { ...body, ...says('Something else.') },
    { ...body, title: 'Another title' },
  ])
    await assert.rejects(ada.conversations.start({ body: other }), { code: 'conversation_exists', status: 409 })
  assert.equal(await begin(ada, body), conversation_id)
  await rest(ada, conversation_id)
})

test('a title that is taken away gives its place to the usual one, and no filter finds all', async () => {
  const id = await begin(ada, { title: 'Mine' })
  const given = await ada.conversations.update({ params: { id }, body: { public: true } })
  assert.equal(given.title, 'Mine')
  const taken = await ada.conversations.update({ params: { id }, body: { title: null } })
  assert.match(taken.title ?? '', /^Conversation [0-9a-f]{5}$/)
  const found = await ada.conversations.search({ query: { title__contains: '', limit: 1 } })
  assert.equal(found.items[0]?.id, id)
})
