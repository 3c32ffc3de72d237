import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@parley/store/clock'
import { holdersOf } from './holders.ts'
import { makeKey } from './key-format.ts'
import type { AccessStore, Holder } from './store.ts'

/** A table of keys that answers each look when it is told to. */
function heldTable() {
  const looks: PromiseWithResolvers<Holder | undefined>[] = []
  const keyHolder = () => {
    const look = Promise.withResolvers<Holder | undefined>()
    looks.push(look)
    return look.promise
  }
  return { looks, store: { keyHolder } as Pick<AccessStore, 'keyHolder'> as AccessStore }
}

const ada = { kind: 'key', owner: 'ada', expiresAt: null } as unknown as Holder
const open = (store: AccessStore) => holdersOf({ store, pepper: Buffer.alloc(32), clock: systemClock })

test('a key that many ask with at once is looked up once', async () => {
  const { looks, store } = heldTable()
  const holders = open(store)
  const key = makeKey('prl')
  const asked = Array.from({ length: 20 }, () => holders.find(key, '192.0.2.1'))
  await new Promise(setImmediate)
  assert.equal(looks.length, 1)
  looks[0]?.resolve(ada)
  assert.deepEqual(new Set(await Promise.all(asked)), new Set([ada]))
  assert.equal(await holders.find(key, '192.0.2.1'), ada)
  assert.equal(looks.length, 1, 'what was found is remembered')
})

test('who asks after a key was revoked does not get what a look from before found', async () => {
  const { looks, store } = heldTable()
  const holders = open(store)
  const key = makeKey('prl')
  const before = holders.find(key, '192.0.2.1')
  await new Promise(setImmediate)
  holders.forget()
  const after = holders.find(key, '192.0.2.1')
  await new Promise(setImmediate)
  assert.equal(looks.length, 2)
  looks[0]?.resolve(ada)
  looks[1]?.resolve(undefined)
  assert.equal(await before, ada)
  await assert.rejects(after, { code: 'authentication_error' })
})

test('a look that failed is made again by the next who asks', async () => {
  const { looks, store } = heldTable()
  const holders = open(store)
  const key = makeKey('prl')
  const failing = holders.find(key, '192.0.2.1')
  await new Promise(setImmediate)
  looks[0]?.reject(new Error('away'))
  await assert.rejects(failing, /away/)
  const again = holders.find(key, '192.0.2.1')
  await new Promise(setImmediate)
  looks[1]?.resolve(ada)
  assert.equal(await again, ada)
})
