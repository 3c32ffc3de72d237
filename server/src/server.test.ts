import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestServer } from './testing.ts'

test('a stop goes to its end when a part of it fails, and tells of the failure', async () => {
  await using test = await openTestServer()
  const { server } = test
  const { driver, database } = server
  const dispose = driver[Symbol.asyncDispose]
  driver[Symbol.asyncDispose] = async () => {
    await dispose()
    throw new Error('the driver failed')
  }
  await assert.rejects(server.close(1_000), /the driver failed/)
  await assert.rejects(database.ping())
  await assert.rejects(fetch(`${server.url}/alive`))
})
