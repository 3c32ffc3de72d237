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
  const main = resolve(import.meta.dirname, '../../server/src/main.ts')
  const env = { PATH: process.env['PATH'], PARLEY_DATA_DIR: program.dataDir }
  await promisify(execFile)(process.execPath, [main, 'secret-key', 'rotate'], { env })
  assert.notEqual(await readFile(file, 'utf8'), old)
  assert.equal((await refused({ PARLEY_SECRET_KEY: old.trim() }, program.dataDir)).code, 1)
  await program.start()
  assert.equal((await program.client.users.me()).id, id)
})
