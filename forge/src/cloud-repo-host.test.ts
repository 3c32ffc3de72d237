import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConformanceWorld } from '../../tests/tools/forge-conformance-world.ts'
import { openForgeServer } from '../../tests/tools/forge-server.ts'
import { cloudRepoHost } from './cloud-repo-host.ts'
import { forgeConformance } from './conformance.ts'
import type { Account } from './forge.ts'

forgeConformance('cloud_repo_host', () =>
  openConformanceWorld('bitbucketCloud', cloudRepoHost, ['acme'], { stars: false, issues: false, strangers: false }),
)

const account = (host: string, token: string): Account => ({ host, token, fetch, signal: AbortSignal.timeout(10_000) })

test('a token is an access token, a name with a password, or an e-mail with an API token, and git is told each its way', async () => {
  await using server = await openForgeServer({
    dialect: 'bitbucketCloud',
    users: { ada: 'secret-of-ada' },
    repositories: { 'acme/widgets': {} },
  })
  const ways = {
    'secret-of-ada': { username: 'x-token-auth', password: 'secret-of-ada' },
    'ada:secret-of-ada': { username: 'ada', password: 'secret-of-ada' },
    'ada@example.test:secret-of-ada': { username: 'x-bitbucket-api-token-auth', password: 'secret-of-ada' },
  }
  for (const [token, credential] of Object.entries(ways)) {
    const forge = cloudRepoHost(account(server.host, token))
    assert.equal((await forge.whoAmI()).login, 'ada', token)
    assert.deepEqual(forge.credential(), credential)
  }
})

test('the repositories of all workspaces are one list, last changed first, over every page', async () => {
  const months = ['01', '02', '03', '04', '05', '06']
  await using server = await openForgeServer({
    dialect: 'bitbucketCloud',
    users: { ada: 'token-of-ada' },
    repositories: {},
    unfilled: Object.fromEntries(
      months.map((month, index) => [`space-${index % 3}/r${month}`, { pushedAt: `2026-${month}-01T00:00:00Z` }]),
    ),
  })
  const forge = cloudRepoHost(account(server.host, 'token-of-ada'))
  const list = (cursor: string | null, more: object = {}) =>
    forge.repositories({ query: null, installationId: null, sort: null, cursor, limit: 4, ...more })
  const first = await list(null)
  const second = await list(first.next)
  const names = [...first.items, ...second.items].map((one) => one.full_name.split('/')[1])
  assert.deepEqual(names, ['r06', 'r05', 'r04', 'r03', 'r02', 'r01'])
  assert.equal(second.next, null)
  const found = async (more: object) => (await list(null, more)).items.map((one) => one.full_name)
  assert.deepEqual(await found({ installationId: 'space-1' }), ['space-1/r05', 'space-1/r02'])
  assert.deepEqual(await found({ query: 'space-2/r0' }), ['space-2/r06', 'space-2/r03'])
})
