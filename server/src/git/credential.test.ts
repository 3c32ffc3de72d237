import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GitRequest } from './service.ts'
import { gitRequest, openConnectedHouse, openHouse, problem } from './testing.ts'

test('the way out of a sandbox reads all that the account reads, and writes to its own repository only', async () => {
  await using house = await openConnectedHouse()
  const { git, ada, forge } = house
  const given = async (path: string, more: Partial<GitRequest> = {}) =>
    (await git.credentialFor(gitRequest(ada, path, forge.url, more)))?.headers.authorization !== undefined
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
  const read = gitRequest(ada, '/acme/widgets.git/git-upload-pack', 'http://github.com', { port: 80 })
  assert.deepEqual(await git.credentialFor(read), { headers: {}, scheme: 'https', about: true })
  assert.equal(await git.credentialFor({ ...read, path: '/login', method: 'GET' }), null)
})

test('the credential is the token of now, and works at the forge', async () => {
  await using house = await openConnectedHouse()
  const { git, ada, forge, entry } = house
  const path = '/acme/widgets.git/info/refs?service=git-upload-pack'
  const credential = await git.credentialFor(gitRequest(ada, path, forge.url))
  assert.equal(credential?.scheme, 'http')
  assert.equal((await fetch(`${forge.url}${path}`)).status, 401)
  const answer = await fetch(`${forge.url}${path}`, { headers: { ...credential?.headers } })
  assert.match(await answer.text(), /service=git-upload-pack/)
  await git.connect(ada, { open_forge: entry('token-of-bob') })
  assert.notDeepEqual(await git.credentialFor(gitRequest(ada, path, forge.url)), credential)
  await git.disconnect(ada, null)
  assert.equal(await git.credentialFor(gitRequest(ada, path, forge.url)), null)
})

test('each kind of forge has its repositories at its own place, and git in a sandbox reaches them there', async () => {
  for (const [kind, dialect, prefix] of [
    ['cloud_repo_host', 'bitbucketCloud', '/acme/widgets.git'],
    ['datacenter_repo_host', 'bitbucketServer', '/scm/acme/widgets.git'],
    ['devops_suite', 'azure', '/umbrella/acme/_git/widgets'],
  ] as const) {
    await using house = await openHouse(undefined, dialect)
    const { git, ada, forge, entry } = house
    await git.connect(ada, { [kind]: entry('token-of-ada') })
    const { url } = await git.repositoryAccess(ada, kind, 'acme/widgets')
    assert.equal(url, `${forge.url}${prefix}`)
    await assert.rejects(git.repositoryAccess(ada, kind, 'bob/secret'), problem('repository_not_accessible'))
    const path = `${prefix}/info/refs?service=git-receive-pack`
    const credential = await git.credentialFor(gitRequest(ada, path, forge.url))
    const answer = await fetch(`${forge.url}${path}`, { headers: { ...credential?.headers } })
    assert.match(await answer.text(), /service=git-receive-pack/, kind)
    for (const other of [`${prefix}/x`, prefix.replace('widgets', 'parts'), `/elsewhere${prefix}`]) {
      const wish = gitRequest(ada, `${other}/git-receive-pack`, forge.url)
      assert.equal((await git.credentialFor(wish))?.headers.authorization, undefined, other)
    }
  }
})
