import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rude } from '../fuzz/rude.ts'
import { until } from '../tools/house.ts'

const requests = 2_000

/** Timers that keep this process alive. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

test(`${requests} clients that break off, break the rules or go away end nothing but their own requests`, async (t) => {
  const seed = Date.now() % 1_000_000
  t.diagnostic(`seed ${seed}`)
  const report = await rude({ requests, seed })
  assert.equal(report.requests, requests)
  assert.ok(report.answers > requests / 10, 'too few are answered at all')
  await until('nothing of them is left', 20_000, () => timers() === 0)
})
