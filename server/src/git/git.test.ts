import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { ProviderToken } from '@parley/contract/git'
import type { GitProvider } from '@parley/contract/git-provider'
import { systemClock } from '@parley/store/clock'
import { openCursor } from '@parley/store/page'
import { openSeal } from '@parley/store/seal'
import { openTestDatabase } from '@parley/store/testing'
import { sql } from 'kysely'
import { openForgeServer } from '../../../tests/tools/forge-server.ts'
import { migrations } from '../migrations/migrations.ts'
import { type GitRequest, gitService } from './service.ts'
import { gitStore } from './store.ts'

const adas = { members: { ada: 'write' } } as const

/** A database with the users ada and bob, and a forge where each has an account. */
async function openHouse(privateHosts?: string[]) {
  const test = await openTestDatabase(migrations)
  const forge = await openForgeServer({
    users: { ada: 'token-of-ada', bob: 'token-of-bob' },
    repositories: {
      'acme/widgets': { ...adas, branches: ['feature/x', 'feature/y'], issues: [issue] },
      'acme/gadgets': { ...adas, private: false, stars: 3 },
      'acme/parts': adas,
      'bob/secret': { members: { bob: 'write' } },
    },
  })
  const [ada, bob] = [randomUUID(), randomUUID()]
  for (const [id, role] of [
    [ada, 'owner'],
    [bob, 'member'],
  ] as const) {
    await test.database.rows(sql`insert into app_user (id, email, role) values (${id}, ${id}, ${role})`)
  }
  const kek = randomBytes(32)
  const git = gitService({
    store: gitStore(test.database),
    seal: await openSeal({ database: test.database, keks: [kek] }),
    clock: systemClock,
    cursor: openCursor([kek]),
    fetch,
    privateHosts: privateHosts ?? [new URL(forge.url).host],
  })
  const entry = (token: string | null, host: string | null = forge.url): ProviderToken => ({
    token,
    user_id: null,
    host,
  })
  const dispose = async () => {
    await forge[Symbol.asyncDispose]()
    await test[Symbol.asyncDispose]()
  }
  return { git, forge, ada, bob, entry, database: test.database, [Symbol.asyncDispose]: dispose }
}

const issue = { number: 7, title: 'Widgets do not turn', author: 'bob', assignee: 'ada' }

async function openConnectedHouse() {
  const house = await openHouse()
  await house.git.connect(house.ada, { open_forge: house.entry('token-of-ada') })
  return house
}

const problem = (code: string) => ({ name: 'Problem', code })

test('an account is connected after its token was proven at the forge, and the token is stored closed', async () => {
  await using house = await openHouse()
  const { git, ada, entry, database } = house
  await assert.rejects(git.connect(ada, { open_forge: entry('wrong') }), problem('forge_token_rejected'))
  assert.deepEqual(await git.connected(ada), {})
  await git.connect(ada, { open_forge: entry('token-of-ada') })
  assert.deepEqual(await git.connected(ada), { open_forge: house.forge.url })
  const [account] = await git.accounts(ada)
  assert.deepEqual([account?.login, account?.git_provider], ['ada', 'open_forge'])
  const rows = JSON.stringify(await database.rows(sql`select * from forge_connection`))
  assert.ok(!rows.includes('token-of-ada'))
})

test('an account belongs to its owner alone', async () => {
  await using house = await openConnectedHouse()
  const { git, bob } = house
  assert.deepEqual(await git.accounts(bob), [])
  const search = git.repositories(bob, { provider: 'open_forge', limit: 10 })
  await assert.rejects(search, problem('forge_not_connected'))
  const asked = request(bob, '/acme/widgets.git/info/refs?service=git-upload-pack', house.forge.url)
  assert.equal(await git.credentialFor(asked), null)
})

test('an empty token keeps the stored one, but never for another host', async () => {
  await using house = await openConnectedHouse()
  const { git, ada, entry } = house
  await git.connect(ada, { open_forge: entry(null) })
  await git.connect(ada, { open_forge: entry('', null) })
  assert.deepEqual(await git.connected(ada), { open_forge: house.forge.url })
  await using other = await openForgeServer({ token: 'token-of-ada', repositories: {} })
  await assert.rejects(
    git.connect(ada, { open_forge: entry(null, other.url.replace('http:', 'https:')) }),
    problem('validation_error'),
  )
  assert.deepEqual(other.requests, [])
})

test('a token goes over plain http to listed private hosts only', async () => {
  await using house = await openHouse([])
  await assert.rejects(
    house.git.connect(house.ada, { open_forge: house.entry('token-of-ada') }),
    problem('validation_error'),
  )
  assert.deepEqual(house.forge.requests, [])
})

test('connecting is all or nothing, and a kind that cannot be connected says so', async () => {
  await using house = await openConnectedHouse()
  const { git, ada, entry } = house
  const tokens = { forge_a: entry('token-of-ada'), open_forge: entry('token-of-ada') }
  await assert.rejects(git.connect(ada, tokens), problem('upstream_error')) // it speaks another interface
  assert.deepEqual(Object.keys(await git.connected(ada)), ['open_forge'])
  await assert.rejects(git.connect(ada, { devops_suite: entry('x') }), problem('validation_error'))
})

test('a disconnected account is gone, and connecting none disconnects all', async () => {
  await using house = await openConnectedHouse()
  const { git, ada, entry } = house
  await git.disconnect(ada, 'forge_a')
  assert.deepEqual(Object.keys(await git.connected(ada)), ['open_forge'])
  await git.disconnect(ada, null)
  assert.deepEqual(await git.connected(ada), {})
  await git.add(ada, { open_forge: entry('token-of-ada') })
  await git.connect(ada, {})
  assert.deepEqual(await git.connected(ada), {})
})

test('repositories, branches and tasks are searched page by page', async () => {
  await using house = await openConnectedHouse()
  const { git, ada } = house
  const first = await git.repositories(ada, { provider: 'open_forge', limit: 2 })
  const page_id = first.next_page_id ?? assert.fail('a second page was expected')
  const second = await git.repositories(ada, { provider: 'open_forge', limit: 2, page_id })
  const names = [...first.items, ...second.items].map((one) => one.full_name)
  assert.deepEqual(names.sort(), ['acme/gadgets', 'acme/parts', 'acme/widgets'])
  assert.equal(second.next_page_id, null)

  const repository = 'acme/widgets'
  const branches = await git.branches(ada, { provider: 'open_forge', repository, query: 'FEATURE', limit: 30 })
  assert.deepEqual(
    branches.items.map((one) => one.name),
    ['feature/x', 'feature/y'],
  )
  const tasks = await git.suggestedTasks(ada, { limit: 30 })
  assert.deepEqual(
    tasks.items.map((task) => [task.repo, task.task_type, task.issue_number]),
    [['acme/widgets', 'OPEN_ISSUE', 7]],
  )
})

test('a page id is good for the search that gave it, and for nothing else', async () => {
  await using house = await openConnectedHouse()
  const { git, ada } = house
  const first = await git.repositories(ada, { provider: 'open_forge', limit: 1 })
  const page_id = first.next_page_id ?? assert.fail('a second page was expected')
  const other = git.repositories(ada, { provider: 'open_forge', query: 'gadget', limit: 1, page_id })
  await assert.rejects(other, problem('malformed_page_id'))
  const made = git.branches(ada, {
    provider: 'open_forge',
    repository: 'acme/widgets',
    query: '',
    limit: 1,
    page_id: 'x',
  })
  await assert.rejects(made, problem('malformed_page_id'))
})

test('what a forge refuses is a problem that names the cause', async () => {
  await using house = await openConnectedHouse()
  const { git, ada, forge } = house
  const provider: GitProvider = 'open_forge'
  const search = () => git.repositories(ada, { provider, limit: 10 })
  await assert.rejects(git.installations(ada, { provider, limit: 10 }), problem('not_offered'))
  await assert.rejects(
    git.repositories(ada, { provider, sort_order: 'stars-asc', limit: 10 }),
    problem('sort_order_without_query'),
  )
  const branches = git.branches(ada, { provider, repository: 'bob/secret', query: '', limit: 10 })
  await assert.rejects(branches, problem('repository_not_accessible'))
  forge.fault = { kind: 'status', status: 500 }
  await assert.rejects(search(), problem('upstream_error'))
  forge.fault = { kind: 'status', status: 401 }
  await assert.rejects(search(), problem('forge_token_rejected'))
  forge.fault = { kind: 'status', status: 429, headers: { 'retry-after': '30' } }
  await assert.rejects(search(), { ...problem('unavailable'), extra: { retryAfter: 30 } })
})

test('a start learns where its repository is; absent and forbidden ones read the same', async () => {
  await using house = await openConnectedHouse()
  const { git, ada, forge } = house
  const url = `${forge.url}/acme/widgets.git`
  const there = { kind: 'open_forge', host: forge.url, url, plainUrl: url }
  assert.deepEqual(await git.repositoryAccess(ada, 'open_forge', 'acme/widgets'), there)
  assert.deepEqual(await git.repositoryAccess(ada, null, 'acme/widgets'), there)
  assert.deepEqual(await git.cloneSource(ada, 'open_forge', 'acme/widgets'), there)
  const refusals: unknown[] = []
  for (const name of ['acme/nothing', 'bob/secret']) {
    await assert.rejects(git.repositoryAccess(ada, null, name), (error: Error & { code?: string }) => {
      refusals.push([error.code, error.message])
      return error.code === 'repository_not_accessible'
    })
  }
  assert.deepEqual(refusals[0], refusals[1])
  for (const name of ['../etc', 'acme', 'acme/widgets/x', '-x/y', 'a b/c']) {
    await assert.rejects(git.repositoryAccess(ada, null, name), problem('validation_error'))
  }
})

test('a forge that gives no answer does not stop a start, and one that rejects the token does', async () => {
  await using house = await openConnectedHouse()
  const { git, ada, forge } = house
  forge.fault = { kind: 'status', status: 502 }
  assert.equal((await git.repositoryAccess(ada, null, 'acme/widgets')).kind, 'open_forge')
  forge.fault = { kind: 'status', status: 401 }
  await assert.rejects(git.repositoryAccess(ada, null, 'acme/widgets'), problem('repository_not_accessible'))
})

test('without a connection a public repository is looked for at the public host of its kind', async () => {
  await using house = await openHouse()
  const { git, ada } = house
  const place = 'github.com/acme/gadgets.git'
  const source = { kind: 'forge_a', host: 'https://github.com', url: `https://${place}`, plainUrl: `http://${place}` }
  assert.deepEqual(await git.repositoryAccess(ada, null, 'acme/gadgets'), source)
  await assert.rejects(git.repositoryAccess(ada, 'devops_suite', 'acme/gadgets'), problem('forge_not_connected'))
})

function request(owner: string, path: string, url: string, more: Partial<GitRequest> = {}): GitRequest {
  const { hostname, port } = new URL(url)
  const repositories = [{ provider: null, name: 'acme/widgets' }]
  const method = path.includes('?') ? 'GET' : 'POST'
  return { owner, repositories, scheme: 'http', host: hostname, port: Number(port), path, method, ...more }
}

test('the way out of a sandbox reads all that the account reads, and writes to its own repository only', async () => {
  await using house = await openConnectedHouse()
  const { git, ada, forge } = house
  const given = async (path: string, more: Partial<GitRequest> = {}) =>
    (await git.credentialFor(request(ada, path, forge.url, more)))?.headers.authorization !== undefined
  for (const path of [
    '/acme/widgets.git/info/refs?service=git-upload-pack',
    '/acme/widgets/info/refs?service=git-receive-pack',
    '/Acme/Widgets.git/git-receive-pack',
    '/acme/widgets.git/info/lfs/objects/batch',
    '/acme/parts.git/info/refs?service=git-upload-pack',
    '/acme/parts.git/git-upload-pack',
  ]) {
    assert.equal(await given(path), true, path)
  }
  for (const path of [
    '/acme/parts.git/info/refs?service=git-receive-pack',
    '/acme/parts.git/git-receive-pack',
    '/acme/parts.git/info/lfs/objects/batch',
    '/api/v1/user?service=git-upload-pack',
    '/api/v1/user/tokens',
    '/acme/widgets.git/../../api/v1/user',
    '/acme/%2e%2e/git-upload-pack',
    '/acme/../git-upload-pack',
    '/acme/widgets.git/info/refs?service=git-upload-pack&service=git-receive-pack',
    '/acme/widgets.git/git-receive-pack?x=1',
    '/acme/widgets.git/info/refs?service=git-annex',
  ]) {
    assert.equal(await given(path), false, path)
  }
  const read = '/acme/widgets.git/info/refs?service=git-upload-pack'
  assert.equal(await given(read, { host: 'elsewhere.test' }), false)
  assert.equal(await given(read, { port: 1 }), false)
  assert.equal(await given(read, { method: 'DELETE' }), false)
})

test('a plain request of git to a public forge is sent on encrypted, without a credential', async () => {
  await using house = await openConnectedHouse()
  const { git, ada } = house
  const read = request(ada, '/acme/widgets.git/git-upload-pack', 'http://github.com', { port: 80 })
  assert.deepEqual(await git.credentialFor(read), { headers: {}, scheme: 'https' })
  assert.equal(await git.credentialFor({ ...read, path: '/login', method: 'GET' }), null)
})

test('the credential is the token of now, and works at the forge', async () => {
  await using house = await openConnectedHouse()
  const { git, ada, forge, entry } = house
  const path = '/acme/widgets.git/info/refs?service=git-upload-pack'
  const credential = await git.credentialFor(request(ada, path, forge.url))
  assert.equal(credential?.scheme, 'http')
  assert.equal((await fetch(`${forge.url}${path}`)).status, 401)
  const answer = await fetch(`${forge.url}${path}`, { headers: { ...credential?.headers } })
  assert.match(await answer.text(), /service=git-upload-pack/)
  await git.connect(ada, { open_forge: entry('token-of-bob') })
  assert.notDeepEqual(await git.credentialFor(request(ada, path, forge.url)), credential)
  await git.disconnect(ada, null)
  assert.equal(await git.credentialFor(request(ada, path, forge.url)), null)
})
