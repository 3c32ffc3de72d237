import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@parley/store/clock'
import { openTestDatabase } from '@parley/store/testing'
import { healthService, type HealthParts } from './service.ts'
import { version } from './version.ts'

const parts = (change: Partial<HealthParts> & Pick<HealthParts, 'database'>): HealthParts => ({
  readiness: { closing: false },
  clock: systemClock,
  config: { role: 'all', sandbox: 'process', v0: true, oidc: null },
  version,
  claimed: async () => false,
  gitProviders: ['forge_a'],
  ...change,
})

test('the server is ready while its database answers, and not while it closes', async () => {
  await using test = await openTestDatabase()
  const readiness = { closing: false }
  const health = healthService(parts({ database: test.database, readiness }))
  assert.deepEqual(await health.ready(), { status: 'ready' })
  readiness.closing = true
  await assert.rejects(health.ready(), { code: 'unavailable', status: 503 })
  assert.equal(await health.health(), 'OK')
})

test('without its database the server is neither healthy nor ready', async () => {
  const away = { ping: () => Promise.reject(new Error('connection refused')) }
  const health = healthService(parts({ database: away }))
  await assert.rejects(health.ready(), { code: 'unavailable' })
  await assert.rejects(health.health(), { code: 'unavailable' })
})

test('a database that never answers is given up after a while', async () => {
  const silent = { ping: () => new Promise<void>(() => {}) }
  const clock = { ...systemClock, sleep: () => Promise.resolve() }
  await assert.rejects(healthService(parts({ database: silent, clock })).ready(), { code: 'unavailable' })
})

test('the server says its version, role and age, and the page what it must know before sign-in', async () => {
  const clock = { ...systemClock, millis: () => 1_000 }
  const health = healthService(parts({ database: { ping: async () => {} }, clock, claimed: async () => true }))
  clock.millis = () => 3_500
  assert.equal(health.info().uptime_seconds, 2.5)
  assert.match(health.info().version, /^\d+\.\d+\.\d+/)
  const expected = { version, claimed: true, sign_in: ['password'], git_providers: ['forge_a'] }
  assert.deepEqual(await health.webClient(), expected)
})
