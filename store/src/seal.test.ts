import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openSeal, ownerKeyTable } from './seal.ts'
import { openTestDatabase } from './testing.ts'

const migrations = { keys: { up: ownerKeyTable } }
const kek = randomBytes(32)

test('a sealed text opens for its owner and at its place only, and not when a character was changed', async () => {
  await using test = await openTestDatabase(migrations)
  const seal = await openSeal({ database: test.database, keks: [kek] })
  const sealed = await seal.close('ada', 'secret.value.1', 'hunter2 ✓')
  assert.ok(!sealed.includes('hunter2'))
  assert.notEqual(await seal.close('ada', 'secret.value.1', 'hunter2 ✓'), sealed)
  assert.equal(await seal.open('ada', 'secret.value.1', sealed), 'hunter2 ✓')
  await seal.close('bob', 'secret.value.1', 'so that bob has a key')
  await assert.rejects(seal.open('bob', 'secret.value.1', sealed))
  await assert.rejects(seal.open('ada', 'secret.value.2', sealed))
  for (const i of [0, 1, 3, 5, 20, sealed.length - 5]) {
    const changed = sealed.slice(0, i) + (sealed[i] === 'A' ? 'B' : 'A') + sealed.slice(i + 1)
    await assert.rejects(seal.open('ada', 'secret.value.1', changed))
  }
  await assert.rejects(seal.open('ada', 'secret.value.1', sealed.slice(0, 20)))
})

test('replicas that meet an owner at the same moment agree on one data key', async () => {
  await using test = await openTestDatabase(migrations)
  const seals = await Promise.all([1, 2, 3, 4].map(() => openSeal({ database: test.database, keks: [kek] })))
  const texts = await Promise.all(seals.map((seal, i) => seal.close('ada', 'here', String(i))))
  for (const seal of seals) {
    assert.deepEqual(await Promise.all(texts.map((text) => seal.open('ada', 'here', text))), ['0', '1', '2', '3'])
  }
})

test('a wrong secret key is refused at the start, in so many words', async () => {
  await using test = await openTestDatabase(migrations)
  await openSeal({ database: test.database, keks: [kek] })
  const wrong = openSeal({ database: test.database, keks: [randomBytes(32)] })
  await assert.rejects(wrong, /not the one that this database was sealed with/)
  await assert.rejects(openSeal({ database: test.database, keks: [randomBytes(16)] }), /32 bytes/)
})

test('after a rewrap everything opens with the new key alone and nothing with the old one', async () => {
  await using test = await openTestDatabase(migrations)
  const { database } = test
  const seal = await openSeal({ database, keks: [kek] })
  const owners = Array.from({ length: 450 }, (_, i) => `owner ${i}`)
  const sealed = await Promise.all(owners.map((owner) => seal.close(owner, 'here', owner)))
  const newer = randomBytes(32)
  const both = await openSeal({ database, keks: [newer, kek] })
  assert.equal(await both.rewrap(newer), 450)
  const alone = await openSeal({ database, keks: [newer] })
  assert.deepEqual(await Promise.all(owners.map((owner, i) => alone.open(owner, 'here', sealed[i] ?? ''))), owners)
  await assert.rejects(openSeal({ database, keks: [kek] }), /not the one/)
})

test('what belonged to a forgotten owner cannot be opened again', async () => {
  await using test = await openTestDatabase(migrations)
  const seal = await openSeal({ database: test.database, keks: [kek] })
  const sealed = await seal.close('ada', 'here', 'x')
  await test.database.transaction((tx) => seal.forget(tx, 'ada'))
  await assert.rejects(seal.open('ada', 'here', sealed), /no more/)
  assert.deepEqual(await test.database.rows(sql`select * from owner_key`), [])
})
