import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { api } from '@parley/contract/api'
import { Problem } from '@parley/contract/problems'
import { serve } from '@parley/wire/serve'
import { openWire } from '@parley/wire/testing'
import { run } from './main.ts'

async function terminal(environment: { baseUrl?: string; key?: string } = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'parley-cli-'))
  const configFile = join(dir, 'parley', 'client.json')
  let written = ''
  let failed = ''
  const surroundings = {
    environment: { baseUrl: environment.baseUrl, key: environment.key, configFile },
    write: (text: string) => void (written += text),
    signal: new AbortController().signal,
  }
  return {
    configFile,
    async run(...words: string[]) {
      written = failed = ''
      const code = await run(words, surroundings, (text) => void (failed += text))
      return { code, written, failed }
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true }),
  }
}

const key = api.keys.current.example.returns as never
const keys = [
  serve(api.keys.current, () => key),
  serve(api.keys.list, () => [{ ...(api.keys.list.example.returns as [object])[0], name: 'red\u001b[31m' }] as never),
  serve(api.keys.delete, () => {
    throw new Problem('not_found')
  }),
]

test('login keeps a key that works, for its owner only, and later commands use it', async () => {
  await using wire = await openWire(keys)
  await using shell = await terminal()
  assert.equal((await shell.run('login', '--base-url', wire.url, '--key', 'wrong')).code, 1)
  assert.equal((await shell.run('keys', 'list')).code, 1)
  assert.equal((await shell.run('login', '--base-url', `${wire.url}/`, '--key', 'key-ada')).code, 0)
  assert.deepEqual(JSON.parse(await readFile(shell.configFile, 'utf8')), { baseUrl: wire.url, key: 'key-ada' })
  assert.equal((await stat(shell.configFile)).mode & 0o777, 0o600)
  assert.equal((await shell.run('keys', 'list')).code, 0)
})

test('answers are lines for people, or JSON, and never commands to the terminal', async () => {
  await using wire = await openWire(keys)
  await using shell = await terminal({ baseUrl: wire.url, key: 'key-ada' })
  const people = await shell.run('keys', 'list')
  assert.ok(people.written.includes('red\\u001b[31m') && !people.written.includes('\u001b'))
  const machine = await shell.run('keys', 'list', '--json')
  assert.deepEqual((JSON.parse(machine.written) as { name: string }[])[0]?.name, 'red\u001b[31m')
})

test('a problem is said in words and with the request id, and the exit code tells failure from misuse', async () => {
  await using wire = await openWire(keys)
  await using shell = await terminal({ baseUrl: wire.url, key: 'key-ada' })
  const failed = await shell.run('keys', 'delete', '0199f3c2-7a10-7c3e-9a51-2f0d6b1c8e44')
  assert.equal(failed.code, 1)
  assert.match(failed.failed, /^There is nothing here\.\n {2}request [0-9a-f-]{36}\n$/)
  assert.equal((await shell.run('keys', 'list', '--base-url', 'http://127.0.0.1:1')).code, 1)
})
