import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { plainGit } from './bare-repository.ts'
import { openGitServer } from './git-server.ts'

const run = promisify(execFile)

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'parley-clone-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

const git = (args: string[], env: Record<string, string> = {}) =>
  run('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.test', ...args], { env: { ...plainGit, ...env } })

const withToken = (url: string, token: string) => url.replace('://', `://anyone:${token}@`)

test('a repository is cloned, changed and pushed with its token', async () => {
  await using server = await openGitServer({
    token: 'tok-ada',
    repositories: {
      'acme/widgets': { files: { 'src/a.txt': 'one\n' }, branches: { 'feature/x': { 'b.txt': 'two\n' } } },
    },
  })
  await using work = await folder()
  const clone = join(work.path, 'widgets')
  await git(['clone', '-q', '-b', 'feature/x', `${withToken(server.url, 'tok-ada')}/acme/widgets.git`, clone])
  assert.equal(await readFile(join(clone, 'src/a.txt'), 'utf8'), 'one\n')
  assert.equal(await readFile(join(clone, 'b.txt'), 'utf8'), 'two\n')

  await writeFile(join(clone, 'big.txt'), 'x'.repeat(3_000_000))
  await git(['-C', clone, 'add', '.'])
  await git(['-C', clone, 'commit', '-qm', 'Change'])
  await git(['-C', clone, 'push', '-q', 'origin', 'HEAD:refs/heads/changed'])
  const { stdout } = await git(['-C', server.repositories['acme/widgets'] ?? '', 'log', '-1', '--format=%s', 'changed'])
  assert.equal(stdout, 'Change\n')
  assert.ok(server.requests.some(({ path, login }) => path.includes('git-receive-pack') && login === 'ada'))
})

test('a wrong token, no token and a stranger do not get a private repository', async () => {
  await using server = await openGitServer({
    users: { ada: 'tok-ada', bob: 'tok-bob' },
    repositories: { 'acme/widgets': { members: { ada: 'write' } } },
  })
  await using work = await folder()
  const attempt = (url: string) => git(['clone', '-q', `${url}/acme/widgets.git`, join(work.path, 'never')])
  await assert.rejects(attempt(withToken(server.url, 'wrong')), /Authentication failed/)
  await assert.rejects(attempt(server.url), /could not read Username/)
  await assert.rejects(attempt(withToken(server.url, 'tok-bob')), /not found/)
})

test('a public repository is read without a token, and pushed to only by its writers', async () => {
  await using server = await openGitServer({
    users: { ada: 'tok-ada', bob: 'tok-bob' },
    repositories: { 'acme/gadgets': { private: false, members: { ada: 'write' } } },
  })
  await using work = await folder()
  const clone = join(work.path, 'gadgets')
  await git(['clone', '-q', `${server.url}/acme/gadgets`, clone])
  const push = (url: string) => git(['-C', clone, 'push', '-q', `${url}/acme/gadgets.git`, 'HEAD:refs/heads/new'])
  await assert.rejects(push(server.url), /could not read Username/)
  await assert.rejects(push(withToken(server.url, 'tok-bob')), /403/)
  await push(withToken(server.url, 'tok-ada'))
})

test('git reads over TLS when it trusts the authority of the server', async () => {
  await using server = await openGitServer({ token: 'tok-ada', repositories: { 'acme/widgets': {} }, tls: true })
  await using work = await folder()
  const ca = join(work.path, 'ca.pem')
  await writeFile(ca, server.ca ?? '')
  const address = `${withToken(server.url, 'tok-ada')}/acme/widgets.git`
  await assert.rejects(git(['ls-remote', address]), /certificate/)
  const { stdout } = await git(['ls-remote', address], { GIT_SSL_CAINFO: ca })
  assert.match(stdout, /refs\/heads\/main/)
})
