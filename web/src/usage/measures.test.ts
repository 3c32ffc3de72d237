import assert from 'node:assert/strict'
import { test } from 'node:test'
import { roundTop } from './measures.ts'

test('an axis ends at a round number that is not below what is shown', () => {
  const tops = [0, 0.0003, 0.4, 1, 1.2, 37, 51, 900].map(roundTop)
  assert.deepEqual(tops, [1, 0.0005, 0.5, 1, 2, 50, 100, 1000])
})
