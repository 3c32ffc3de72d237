import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { limit, specOf } from '../conformance-sentence.ts'
import { conformance } from '../conformance.ts'
import { driverIn, openProcess, processesNaming } from './testing.fixture.ts'

conformance('process', openProcess)

test('sandboxes that are being started when the program ends leave nothing running', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sandboxes-'))
  const driver = driverIn(folder)
  await driver.list()
  const specs = Array.from({ length: 8 }, () => specOf())
  const starts = Promise.allSettled(specs.map((spec) => driver.start(spec, limit())))
  await new Promise((resolve) => setTimeout(resolve, 40)) // the first of them have begun
  await driver[Symbol.asyncDispose]()
  const refused = (await starts).filter((one) => one.status === 'rejected')
  assert.ok(refused.length > 0, 'all of them had been started')
  for (const { reason } of refused) assert.equal(reason.name, 'SandboxGone')
  for (const { id } of specs) assert.deepEqual(await processesNaming(id), [])
  await rm(folder, { recursive: true })
})
