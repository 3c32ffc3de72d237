import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grouped } from './grouped.ts'

/** Writes that last until they are let go, and what each of them was given. */
function held() {
  const groups: number[][] = []
  const gates: PromiseWithResolvers<void>[] = []
  const write = async (group: readonly number[]) => {
    const gate = Promise.withResolvers<void>()
    groups.push([...group])
    gates.push(gate)
    await gate.promise
    return group.map((one) => one * 10)
  }
  const goOn = async () => {
    gates.shift()?.resolve()
    await new Promise(setImmediate)
  }
  return { groups, write, goOn }
}

test('who comes alone waits for nobody, and what comes meanwhile goes together and is answered each its own', async () => {
  const { groups, write, goOn } = held()
  const add = grouped(write)
  const first = [add(1), add(2)]
  assert.deepEqual(groups, [[1], [2]])
  const later = [3, 4, 5].map(add)
  assert.equal(groups.length, 2, 'two are under way')
  await goOn()
  assert.deepEqual(groups.slice(2), [[3, 4, 5]])
  await goOn()
  await goOn()
  assert.deepEqual(await Promise.all([...first, ...later]), [10, 20, 30, 40, 50])
})

test('no more than 64 go together', async () => {
  const { groups, write, goOn } = held()
  const add = grouped(write)
  const all = Promise.all(Array.from({ length: 102 }, (_, n) => add(n)))
  for (let n = 0; n < 4; n += 1) await goOn()
  assert.deepEqual(
    groups.map((group) => group.length),
    [1, 1, 64, 36],
  )
  assert.deepEqual((await all).at(-1), 1010)
})

test('the trouble of one is not everybody’s', async () => {
  const write = async (group: readonly number[]) => {
    await new Promise(setImmediate)
    if (group.includes(4)) throw new Error('no fours')
    return group
  }
  const add = grouped(write)
  const done = await Promise.allSettled([1, 2, 3, 4, 5].map(add))
  assert.deepEqual(
    done.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message)),
    [1, 2, 3, 'no fours', 5],
  )
})
