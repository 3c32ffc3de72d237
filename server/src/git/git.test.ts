import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GitProvider } from '@parley/contract/git-provider'
import { sql } from 'kysely'
import { openForgeServer } from '../../../tests/tools/forge-server.ts'
import { gitRequest, openConnectedHouse, openHouse, problem } from './testing.ts'

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
  const asked = gitRequest(bob, '/acme/widgets.git/info/refs?service=git-upload-pack', house.forge.url)
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

test('a host in the operator’s own network is not reached unless it is listed', async () => {
  await using house = await openHouse([])
  const { git, ada, entry, forge } = house
  const inside = entry('token-of-ada', forge.url.replace('http:', 'https:'))
  await assert.rejects(git.connect(ada, { open_forge: inside }), problem('upstream_error'))
  assert.deepEqual(forge.requests, [])
})

test('connecting is all or nothing, and a kind that cannot be connected says so', async () => {
  await using house = await openConnectedHouse()
  const { git, ada, entry } = house
  const tokens = { forge_a: entry('token-of-ada'), open_forge: entry('token-of-ada') }
  await assert.rejects(git.connect(ada, tokens), problem('upstream_error')) // it speaks another interface
  assert.deepEqual(Object.keys(await git.connected(ada)), ['open_forge'])
  await assert.rejects(git.connect(ada, { enterprise_sso: entry('x') }), problem('not_offered'))
  await assert.rejects(git.installations(ada, { provider: 'enterprise_sso', limit: 10 }), problem('not_offered'))
  await assert.rejects(git.connect(ada, { datacenter_repo_host: entry('x', null) }), problem('validation_error'))
  await assert.rejects(git.connect(ada, { devops_suite: entry('x', 'dev.azure.com') }), problem('validation_error'))
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
