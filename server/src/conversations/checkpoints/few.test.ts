import assert from 'node:assert/strict'
import { test } from 'node:test'
import { few } from './few.ts'

test('so many are at work at once, in the order they came, and one that fails leaves its place', async () => {
  const inTurn = few(2)
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const begun: number[] = []
  const all = gates.map(({ promise }, at) => inTurn(() => (begun.push(at), promise)))
  const settled = Promise.allSettled(all)
  assert.deepEqual(begun, [0, 1])
  gates[1]?.reject(new Error('no'))
  await assert.rejects(all[1] ?? Promise.resolve())
  assert.deepEqual(begun, [0, 1, 2])
  for (const { resolve } of gates) resolve()
  await settled
  assert.deepEqual(begun, [0, 1, 2, 3, 4])
  await inTurn(async () => begun.push(5))
  assert.equal(begun.length, 6)
})
