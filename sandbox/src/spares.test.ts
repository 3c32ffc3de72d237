import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { specOf } from './conformance-sentence.ts'
import { type Kept, keepSpares } from './spares.ts'

const { limits } = specOf()
const kept = (image: string, most: number): Kept => ({ image, most, limits })
const of = (image: string) => specOf({ image })

/** A pool of names, which are made when the test says so; `lacking` images cannot be had. */
function opened(t: TestContext, kinds: readonly Kept[], lacking: readonly string[] = []) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const asked: string[] = []
  const dismissed: string[] = []
  const waiting: (() => void)[] = []
  const machine = { hasRoom: true }
  const spares = keepSpares<string>({
    kept: kinds,
    make: ({ image }) => {
      asked.push(image ?? '')
      if (lacking.includes(image ?? '')) return Promise.reject(new Error('there is no such image'))
      return new Promise((resolve) => waiting.push(() => resolve(`${image} ${asked.length}`)))
    },
    usable: () => true,
    dismiss: async (spare) => void dismissed.push(spare),
    hasRoom: () => machine.hasRoom,
  })
  const later = async (ms: number) => {
    t.mock.timers.tick(ms)
    for (let turns = 0; turns < 5; turns++) await turn()
  }
  const made = async () => {
    waiting.shift()?.()
    for (let turns = 0; turns < 5; turns++) await turn()
  }
  return { spares, asked, dismissed, waiting, machine, later, made }
}

test('each kind has its own number ready, made one at a time, the emptiest first, and a start takes its own kind', async (t) => {
  const { spares, asked, dismissed, waiting, later, made } = opened(t, [kept('a', 2), kept('b', 1), kept('c', 0)])
  await spares.rest(async () => undefined)
  await later(100)
  for (let one = 0; one < 5; one++) {
    assert.ok(waiting.length <= 1)
    await made()
  }
  assert.deepEqual(asked, ['a', 'b', 'a'])
  assert.deepEqual([spares.take(of('b')), spares.take(of('b')), spares.take(of('c'))], ['b 2', undefined, undefined])
  assert.equal(spares.take({ ...of('a'), limits: { ...limits, cpu: 9 } }), undefined)
  assert.equal(spares.take(of('a')), 'a 1')
  await spares.close()
  assert.deepEqual(dismissed, ['a 3'])
})

test('a kind that cannot be made keeps no other from being made, and is tried again after the next start', async (t) => {
  const { spares, asked, later, made } = opened(t, [kept('none', 1), kept('b', 1)], ['none'])
  await spares.rest(async () => undefined)
  await later(100)
  await made()
  assert.deepEqual(asked, ['none', 'b'])
  assert.equal(await spares.rest(async () => spares.take(of('b'))), 'b 2')
  await later(100)
  assert.deepEqual(asked, ['none', 'b', 'none', 'b'])
  await made()
  await spares.close()
})

test('nothing is made while a start is under way, nor while the machine has no room, and soon after it has', async (t) => {
  const { spares, asked, machine, later, made } = opened(t, [kept('a', 1)])
  const start = Promise.withResolvers<void>()
  const started = spares.rest(() => start.promise)
  await spares.rest(async () => undefined)
  await later(100)
  assert.deepEqual(asked, [])
  machine.hasRoom = false
  start.resolve()
  await started
  await later(100)
  await later(10_000)
  assert.deepEqual(asked, [])
  machine.hasRoom = true
  await later(10_000)
  assert.deepEqual(asked, ['a'])
  await made()
  assert.equal(spares.take(of('a')), 'a 1')
  await spares.close()
})

test('what was being made when the program ends is made nobody’s and goes', async (t) => {
  const { spares, dismissed, later, made } = opened(t, [kept('a', 1)])
  await spares.rest(async () => undefined)
  await later(100)
  const closed = spares.close()
  await made()
  await closed
  assert.deepEqual(dismissed, ['a 1'])
})
