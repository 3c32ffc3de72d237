import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { api } from '@parley/contract/api'
import { createKey, deleteKey, getCurrentKey, listKeys, rotateKey } from '@parley/contract/keys'
import { getMe } from '@parley/contract/users'
import { systemClock } from '@parley/store/clock'
import { openTestDatabase } from '@parley/store/testing'
import { caller } from '@parley/wire/call'
import { readConfig } from '../config.ts'
import { quietConversation } from '../events/quiet.fixture.ts'
import { openLog } from '../log.ts'
import { migrations } from '../migrations/migrations.ts'
import { openServer } from '../server.ts'
import { openTestServer } from '../testing.ts'
import { makeKey } from './key-format.ts'

const refused = { code: 'authentication_error' }

test('a key is shown once, listed without its text, and opens the door until it is deleted', async () => {
  await using server = await openTestServer()
  const ada = await server.as('ada')
  const { key, ...shown } = await ada(createKey, {
    body: { name: 'Build server', scopes: ['events:read', 'keys:admin'] },
  })
  assert.match(key, /^prl_[0-9A-Za-z]{36}$/)
  const listed = await ada(listKeys)
  assert.deepEqual(
    listed.find(({ id }) => id === shown.id),
    shown,
  )
  assert.ok(!JSON.stringify(listed).includes(key))
  const build = caller({ baseUrl: server.url, key })
  assert.deepEqual((await build(getCurrentKey)).scopes, ['events:read', 'keys:admin'])
  await ada(deleteKey, { params: { id: shown.id } })
  await assert.rejects(build(getMe), refused)
  await assert.rejects(ada(deleteKey, { params: { id: shown.id } }), { code: 'not_found' })
})

test('nobody hands on a right they lack: not by a new key, and not by replacing a stronger one', async () => {
  await using server = await openTestServer()
  const ada = await server.as('ada')
  const strong = await ada(createKey, { body: { scopes: ['secrets:write'] } })
  const { key } = await ada(createKey, { body: { scopes: ['keys:admin'] } })
  const weak = caller({ baseUrl: server.url, key })
  await assert.rejects(weak(createKey, { body: { scopes: ['secrets:write'] } }), { code: 'insufficient_scope' })
  await assert.rejects(weak(rotateKey, { params: { id: strong.id }, body: {} }), { code: 'insufficient_scope' })
})

test('a replaced key works for its grace and no longer, and is replaced once', async () => {
  const clock = { ...systemClock, ahead: 0, millis: () => Date.now() + clock.ahead }
  await using server = await openTestServer({ clock })
  const ada = await server.as('ada')
  const old = await ada(createKey, { body: { name: 'Build server', scopes: ['git:read'] } })
  const rotate = () => ada(rotateKey, { params: { id: old.id }, body: { grace_seconds: 60 } })
  const fresh = await rotate()
  assert.deepEqual([fresh.name, fresh.scopes], ['Build server', ['git:read']])
  const [before, after] = [old.key, fresh.key].map((key) => caller({ baseUrl: server.url, key }))
  assert.ok(before && after)
  await before(getMe)
  await assert.rejects(rotate(), { code: 'state_conflict' })
  clock.ahead = 61_000
  await assert.rejects(before(getMe), refused)
  await after(getMe)
})

test('an expired key is answered exactly as an unknown one', async () => {
  const clock = { ...systemClock, ahead: 0, millis: () => Date.now() + clock.ahead }
  await using server = await openTestServer({ clock })
  const ada = await server.as('ada')
  const expires_at = new Date(Date.now() + 60_000).toISOString()
  const { key } = await ada(createKey, { body: { expires_at } })
  clock.ahead = 61_000
  const [expired, unknown] = await Promise.all(
    [key, makeKey('prl')].map(async (one) => {
      const answer = await fetch(`${server.url}/api/v1/users/me`, { headers: { authorization: `Bearer ${one}` } })
      const { request_id, instance, ...said } = (await answer.json()) as Record<string, unknown>
      assert.ok(request_id !== undefined && instance !== undefined)
      return { status: answer.status, said }
    }),
  )
  assert.deepEqual(expired, unknown)
  await assert.rejects(ada(createKey, { body: { expires_at: '2020-01-01T00:00:00Z' } }), { code: 'validation_error' })
})

test('twenty different bad keys in a minute are too many; one stale key is one, and a good key is always good', async () => {
  await using server = await openTestServer()
  const ada = await server.as('ada')
  const tryKey = async (key: string) =>
    (await fetch(`${server.url}/api/v1/users/me`, { headers: { 'x-access-token': key } })).status
  const stale = makeKey('prl')
  for (let n = 0; n < 30; n++) assert.equal(await tryKey(stale), 401)
  for (let n = 0; n < 19; n++) assert.equal(await tryKey(n % 2 === 0 ? makeKey('prl') : `junk-${n}`), 401)
  const late = await fetch(`${server.url}/api/v1/users/me`, { headers: { authorization: 'Bearer prl_guess' } })
  assert.equal(late.status, 429)
  assert.ok(Number(late.headers.get('retry-after')) > 0)
  await ada(getMe)
})

/** Two servers on one database. */
async function openReplicas() {
  const test = await openTestDatabase(migrations)
  const dir = mkdtempSync(join(tmpdir(), 'pa-'))
  const kek = randomBytes(32)
  const open = (replica: string) =>
    openServer({
      config: readConfig({ PARLEY_PORT: '0', PARLEY_DATA_DIR: dir, PARLEY_LOG_LEVEL: 'silent', PARLEY_ROLE: 'api' }),
      connection: test.connection,
      keks: [kek],
      stateDir: join(dir, replica),
      runtimeDir: join(dir, `r${replica}`),
      replica,
      log: openLog('silent'),
    })
  const [one, other] = [await open('1'), await open('2')]
  return {
    one,
    other,
    async [Symbol.asyncDispose]() {
      await Promise.all([one.close(500), other.close(500)])
      await test[Symbol.asyncDispose]()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

test('a key that is deleted on one replica is void on the other, and ends what it has open there', async () => {
  await using replicas = await openReplicas()
  const { one, other } = replicas
  const owner = await one.users.ensureMember('ada@example.com')
  const { key } = await one.access.createKey(owner, { name: null })
  const { row, key: doomed } = await one.access.createKey(owner, { name: null })
  const there = caller({ baseUrl: `http://127.0.0.1:${other.port}`, key: doomed })
  await there(getMe)
  const id = await quietConversation(other.database, owner)
  const stream = await fetch(`http://127.0.0.1:${other.port}/api/v1/conversation/${id}/events/stream`, {
    headers: { authorization: `Bearer ${doomed}` },
  })
  assert.equal(stream.status, 200)
  const socket = new WebSocket(`ws://127.0.0.1:${other.port}/api/v1/conversation/${id}/events/socket?resend_mode=all`)
  const closed = once(socket, 'close')
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'auth', api_key: doomed }))
  await once(socket, 'message')

  const admin = await one.access.createKey(owner, { name: null, scopes: ['keys:admin'] })
  await caller({ baseUrl: `http://127.0.0.1:${one.port}`, key: admin.key })(deleteKey, { params: { id: row.id } })
  assert.match(await stream.text(), /event: problem\ndata: .*authentication_error/)
  assert.equal(((await closed)[0] as CloseEvent).code, 4001)
  await assert.rejects(there(getMe), refused)
  await caller({ baseUrl: `http://127.0.0.1:${other.port}`, key })(getMe)
})

test('a stream ends when its key expires, though nobody has deleted it', async () => {
  await using replicas = await openReplicas()
  const { one } = replicas
  const owner = await one.users.ensureMember('ada@example.com')
  const expires_at = new Date(Date.now() + 1_500).toISOString()
  const { key } = await one.access.createKey(owner, { name: null, expires_at })
  const id = await quietConversation(one.database, owner)
  const stream = await caller({ baseUrl: `http://127.0.0.1:${one.port}`, key })(api.events.stream, { params: { id } })
  await assert.rejects(async () => {
    for await (const _ of stream) continue
  }, refused)
})
