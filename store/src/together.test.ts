import assert from 'node:assert/strict'
import { test } from 'node:test'
import { together } from './together.ts'

test('what is asked for at once is read at once, and nothing is remembered', async () => {
  const reads: string[][] = []
  const rows = new Map([
    ['a', 1],
    ['b', 2],
  ])
  const get = together(
    async (keys) => {
      reads.push([...keys])
      return [...rows].filter(([key]) => keys.includes(key))
    },
    ([key]) => key,
  )
  assert.deepEqual(await Promise.all([get('b'), get('none'), get('a'), get('b')]), [
    ['b', 2],
    undefined,
    ['a', 1],
    ['b', 2],
  ])
  rows.set('b', 3)
  assert.deepEqual(await get('b'), ['b', 3])
  assert.deepEqual(reads, [['b', 'none', 'a', 'b'], ['b']])
})

test('a read that fails fails for everybody who waits for it, and the next one is tried', async () => {
  let fails = true
  const get = together(
    async (keys) => {
      if (fails) throw new Error('away')
      return keys
    },
    (key) => key,
  )
  await Promise.all([assert.rejects(get('a'), /away/), assert.rejects(get('b'), /away/)])
  fails = false
  assert.equal(await get('a'), 'a')
})
