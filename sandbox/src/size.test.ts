import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inOrder } from './size.ts'

test('a size that takes long does not undo a later one, and those between are left out', async () => {
  const applied: number[][] = []
  const resize = inOrder(async (columns, rows) => {
    await sleep(applied.length === 0 ? 20 : 1)
    applied.push([columns, rows])
  })
  resize(80, 24)
  resize(90, 30)
  resize(101.7, 33)
  await sleep(60)
  assert.deepEqual(applied, [
    [80, 24],
    [101, 33],
  ])
})

test('a size that cannot be set is no end', async () => {
  const applied: number[] = []
  const resize = inOrder(async (columns) => {
    if (columns === 1) throw new Error('no terminal')
    applied.push(columns)
  })
  resize(1, 1)
  resize(2, 2)
  await sleep(5)
  resize(3, 3)
  await sleep(5)
  assert.deepEqual(applied, [2, 3])
})
