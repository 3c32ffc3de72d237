import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzz } from '../fuzz/fuzz.ts'

const requests = 5_000

test(`of ${requests} requests that nobody would send none fails the service or breaks the published document`, async (t) => {
  const seed = Date.now() % 1_000_000
  t.diagnostic(`seed ${seed}: npm run fuzz -- ${requests} ${seed}`)
  const report = await fuzz({ requests, seed })
  assert.deepEqual(report.failures, [])
  assert.ok((report.byStatus['200'] ?? 0) > requests / 10, 'too few requests get through to what they ask for')
})
