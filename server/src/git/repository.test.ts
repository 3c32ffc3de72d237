import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConnectedHouse, openHouse, problem } from './testing.ts'

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
  assert.deepEqual(await git.repositoryAccess(ada, 'enterprise_sso', 'acme/gadgets'), source)
})
