import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { systemClock } from '@parley/store/clock'
import { openSeal } from '@parley/store/seal'
import { openTestDatabase } from '@parley/store/testing'
import type { Attempt } from '@parley/wire/idempotency'
import { sql } from 'kysely'
import { migrations } from '../migrations/migrations.ts'
import { idempotencyStore } from './idempotency-store.ts'
import { openIdempotency } from './idempotency.ts'

async function openKeeper() {
  const test = await openTestDatabase(migrations)
  const { database } = test
  const owner = randomUUID()
  await database.rows(sql`insert into app_user (id, role) values (${owner}, 'owner')`)
  const seal = await openSeal({ database, keks: [randomBytes(32)] })
  const open = () => openIdempotency({ store: idempotencyStore(database), seal, clock: systemClock, log: () => {} })
  const [here, there] = [open(), open()]
  const attempt = (body: string): Attempt => ({
    owner,
    method: 'POST',
    route: '/api/v1/keys',
    key: 'k-1',
    fingerprint: createHash('sha256').update(body).digest('hex'),
  })
  const age = (span: string) => database.rows(sql`update idempotent_answer set created_at = now() - ${span}::interval`)
  return {
    here,
    there,
    attempt,
    age,
    stored: () => database.rows(sql<{ body: Buffer }>`select body from idempotent_answer`),
    async [Symbol.asyncDispose]() {
      here.close()
      there.close()
      await test[Symbol.asyncDispose]()
    },
  }
}

const answer = { status: 201, headers: { 'content-type': 'application/json' }, body: '{"key":"prl_once"}' }

test('a request is done once, and whoever asks again gets the same answer, also from another replica', async () => {
  await using keeper = await openKeeper()
  const { here, there, attempt } = keeper
  const first = attempt('a')
  assert.equal((await here.begin(first)).kind, 'new')
  assert.deepEqual(await there.begin(attempt('a')), { kind: 'busy' })
  await here.end(first, answer)
  assert.deepEqual(await there.begin(attempt('a')), { kind: 'replay', ...answer })
})

test('of many requests at once with one key exactly one is done', async () => {
  await using keeper = await openKeeper()
  const { here, there, attempt } = keeper
  const begun = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? here : there).begin(attempt('a'))))
  assert.equal(begun.filter(({ kind }) => kind === 'new').length, 1)
})

test('the same key with another request is refused', async () => {
  await using keeper = await openKeeper()
  const { here, attempt } = keeper
  const first = attempt('a')
  await here.begin(first)
  assert.deepEqual(await here.begin(attempt('b')), { kind: 'mismatch' })
  await here.end(first, answer)
  assert.deepEqual(await here.begin(attempt('b')), { kind: 'mismatch' })
})

test('a request that was refused may be made again under its key', async () => {
  await using keeper = await openKeeper()
  const { here, attempt } = keeper
  const first = attempt('a')
  await here.begin(first)
  await here.end(first, undefined)
  assert.equal((await here.begin(attempt('b'))).kind, 'new')
})

test('an attempt that died is made again under its id after a minute, one that still runs is not', async () => {
  await using keeper = await openKeeper()
  const { here, there, attempt, age } = keeper
  const begun = await here.begin(attempt('a'))
  await age('50 seconds')
  assert.deepEqual(await there.begin(attempt('a')), { kind: 'busy' })
  await age('61 seconds')
  await here.beat()
  assert.deepEqual(await there.begin(attempt('a')), { kind: 'busy' })
  await age('61 seconds')
  assert.deepEqual(await there.begin(attempt('b')), { kind: 'mismatch' })
  assert.ok(begun.kind === 'new' && begun.id !== undefined)
  assert.deepEqual(await there.begin(attempt('a')), begun)
})

test('an answer is kept for a day', async () => {
  await using keeper = await openKeeper()
  const { here, attempt, age, stored } = keeper
  const first = attempt('a')
  await here.begin(first)
  await here.end(first, answer)
  await age('23 hours')
  await here.forget()
  assert.equal((await here.begin(attempt('a'))).kind, 'replay')
  await age('25 hours')
  await here.forget()
  assert.deepEqual(await stored(), [])
})

test('a kept answer cannot be read in the database', async () => {
  await using keeper = await openKeeper()
  const { here, attempt, stored } = keeper
  const first = attempt('a')
  await here.begin(first)
  await here.end(first, answer)
  const [row] = await stored()
  assert.ok(row && !row.body.toString().includes('prl_once'))
})

test('a request of nobody is not kept', async () => {
  await using keeper = await openKeeper()
  const nobodys = { ...keeper.attempt('a'), owner: '' }
  assert.deepEqual(await keeper.here.begin(nobodys), { kind: 'new' })
  await keeper.here.end(nobodys, answer)
  assert.deepEqual(await keeper.here.begin(nobodys), { kind: 'new' })
})
