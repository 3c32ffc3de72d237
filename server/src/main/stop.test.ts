import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stopInTime } from './stop.ts'

const logged = () => {
  const lines: string[] = []
  return { lines, error: (_details: object, line: string) => void lines.push(line) }
}

test('a stop that comes to no end is cut off and told', async () => {
  const log = logged()
  const server = { close: () => new Promise<void>(() => {}) }
  assert.equal(await stopInTime(server, log as never, 50), false)
  assert.match(log.lines.join(), /did not stop in time/)
})

test('a stop that fails says why, and one that ends says nothing', async () => {
  const log = logged()
  const failing = { close: () => Promise.reject(new Error('the disk is gone')) }
  await assert.rejects(stopInTime(failing, log as never), /the disk is gone/)
  assert.equal(await stopInTime({ close: async () => {} }, log as never), true)
  assert.deepEqual(log.lines, [])
})
