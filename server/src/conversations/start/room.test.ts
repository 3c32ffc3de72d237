import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { api } from '@parley/contract/api'
import { until } from '../../../../tests/tools/house.ts'
import { openTestServer } from '../../testing.ts'

const dir = mkdtempSync(join(tmpdir(), 'pr-'))
after(() => rmSync(dir, { recursive: true, force: true }))
const limits = join(dir, 'limits.yaml')
writeFileSync(limits, 'sandboxes: { per_user: 1 }\n')

test('a start that finds no room says so, and goes on soon after there is some', async () => {
  await using house = await openTestServer({ env: { PARLEY_LIMITS: limits } })
  const ada = await house.as('ada')
  const { driver } = house.server
  const { start } = driver
  const [called, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  driver.start = async (...wanted) => {
    called.resolve()
    await go.promise
    return start(...wanted)
  }
  const first = await ada(api.conversations.start, { body: {} })
  await called.promise
  const second = await ada(api.conversations.start, { body: {} })
  const logOf = (id: string) => ada(api.startTasks.log, { params: { id } })
  const why = await until(
    'it has been told',
    20_000,
    async () => (await logOf(second.id)).steps.at(-1)?.detail ?? undefined,
  )
  assert.match(why, /^Waiting for room: As many sandboxes as are allowed are starting/)
  // It looks again a few times, which is no news.
  await new Promise((resolve) => setTimeout(resolve, 4_000))
  assert.equal((await logOf(second.id)).steps.length, 2)
  const began = performance.now()
  go.resolve()
  for (const { id } of [first, second])
    await until('it is ready', 20_000, async () => (await logOf(id)).status === 'READY')
  assert.ok(performance.now() - began < 10_000, 'it waited for a time that grew')
})
