import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { api } from '@parley/contract/api'
import { sql } from 'kysely'
import { openTestServer } from '../testing.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

test('many sandboxes that one person asks for at once leave the database to everybody else', async () => {
  const [ada, bob] = [await server.as('ada'), await server.as('bob')]
  const first = await ada(api.sandboxes.create)
  const owner = first.created_by_user_id
  const [held, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = server.server.database.transaction(async (tx) => {
    await tx.rows(sql`select pg_advisory_xact_lock(hashtextextended(${owner}, 0))`)
    held.resolve()
    await go.promise
  })
  await held.promise
  // More than there are connections. They wait for the lock, and most of them are refused in the end: there is no room.
  const asked = Promise.allSettled(Array.from({ length: 30 }, () => ada(api.sandboxes.create)))
  await sleep(500)
  const answer = await bob(api.conversations.count, {}).catch((error: unknown) => error)
  go.resolve()
  await holding
  await asked
  assert.equal(answer, 0)
})
