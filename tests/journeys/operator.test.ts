import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { openProgram } from '../tools/program.ts'

/* What an operator reads when a start cannot be: one line that says what to do, a code other than 0, and data as it was. */

const program = await openProgram()
after(() => program[Symbol.asyncDispose]())
await program.start()
const { id } = await program.client.users.me()
await program.client.secrets.create({ body: { name: 'KEPT', value: 'kept-value' } })

interface Refused {
  code: number
  line: string
}

/** How a start ends that must not come to serve: its one line on standard error. */
async function refused(env: Record<string, string>, dataDir?: string): Promise<Refused> {
  await using other = await openProgram({ env, ...(dataDir === undefined ? {} : { dataDir, keep: true }) })
  const error: unknown = await other.start().then(
    () => assert.fail('it serves'),
    (reason: unknown) => reason,
  )
  const [, code = '', said = ''] = /ended with (\d+): ([^]*)/.exec(String(error)) ?? []
  const lines = said.split('\n').filter((line) => line.startsWith('parley:'))
  assert.equal(lines.length, 1, String(error))
  assert.doesNotMatch(said, /^\s+at /m)
  return { code: Number(code), line: lines[0] ?? '' }
}

test('a data folder that another program uses is left alone', async () => {
  const { code, line } = await refused({}, program.dataDir)
  assert.equal(code, 1)
  assert.match(line, /in use by another Parley/)
  assert.equal((await program.client.users.me()).id, id)
})

test('a port that is in use is named, with the variable that changes it', async () => {
  const { code, line } = await refused({ PARLEY_PORT: new URL(program.url).port })
  assert.equal(code, 1)
  assert.match(line, /port \d+ .*in use.*PARLEY_PORT/)
})

test('a database that cannot be reached is named without its password', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  const { code, line } = await refused({ DATABASE_URL: `postgres://parley:hunter2@127.0.0.1:${port}/parley` })
  assert.equal(code, 1)
  assert.match(line, /127\.0\.0\.1/)
  assert.doesNotMatch(line, /hunter2/)
})

test('a variable that does not exist or has a wrong value is named', async () => {
  assert.match((await refused({ PARLEY_PROT: '3000' })).line, /PARLEY_PROT.*PARLEY_PORT/)
  assert.match((await refused({ PARLEY_PORT: 'x' })).line, /PARLEY_PORT/)
})

const main = resolve(import.meta.dirname, '../../server/src/main.ts')
const env = { PATH: process.env['PATH'], PARLEY_DATA_DIR: program.dataDir }
/** In another environment than the server's: without its folder for sockets. */
const parley = (...verb: string[]) => promisify(execFile)(process.execPath, [main, ...verb], { env })

test('a key made on the command line opens the server beside it, and the log says that an operator made it', async () => {
  const { stdout } = await parley('keys', 'create')
  const key = stdout.trim()
  const answer = await fetch(`${program.url}/api/v1/users/me`, { headers: { authorization: `Bearer ${key}` } })
  assert.equal(((await answer.json()) as { id: string }).id, id)
  const [made] = (await program.client.keys.list()).filter(({ last_four }) => key.endsWith(last_four))
  const { items } = await program.client.audit.search({ query: { action__eq: 'key.create' } })
  assert.deepEqual([items[0]?.actor_kind, items[0]?.object, items[0]?.user_id], ['operator', made?.id, id])
  assert.equal((await program.client.audit.verify()).ok, true)
})

test('with a wrong secret key nothing starts, and with the right one everything is there', async () => {
  assert.equal(await program.end('SIGTERM'), 0)
  const { code, line } = await refused({ PARLEY_SECRET_KEY: randomBytes(32).toString('base64') }, program.dataDir)
  assert.equal(code, 1)
  assert.match(line, /key/i)
  await program.start()
  assert.equal((await program.client.users.me()).id, id)
  assert.deepEqual(
    (await program.client.secrets.list()).custom_secrets.map((secret) => secret.name),
    ['KEPT'],
  )
})

test('a rotated secret key opens everything, and the one before it opens nothing', async () => {
  assert.equal(await program.end('SIGTERM'), 0)
  const file = join(program.dataDir, 'secret.key')
  const old = await readFile(file, 'utf8')
  await parley('secret-key', 'rotate')
  assert.notEqual(await readFile(file, 'utf8'), old)
  assert.equal((await refused({ PARLEY_SECRET_KEY: old.trim() }, program.dataDir)).code, 1)
  await program.start()
  assert.equal((await program.client.users.me()).id, id)
})
