import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { createKey } from '@parley/contract/keys'
import { createSandbox, getSandbox } from '@parley/contract/sandboxes'
import { readForgeToken, reportConversation } from '@parley/contract/webhooks'
import { type Caller, caller } from '@parley/wire/call'
import { sql } from 'kysely'
import { forgeToken, openHouse } from '../../../tests/tools/house.ts'
import { soon } from './testing.ts'

const house = await openHouse({ scripts: {} })
after(() => house[Symbol.asyncDispose]())
const ada = await house.server.as('ada')
const read = async (as: Caller) =>
  new Response((await as(readForgeToken, { query: { provider: 'open_forge' } })).body).text()

test('the token of a forge is for its owner alone, with the right to write', async () => {
  assert.equal(await read(ada), forgeToken)
  await assert.rejects(read(await house.server.as('bob')), { code: 'not_found' })
  await assert.rejects(ada(readForgeToken, { query: { provider: 'forge_a' } }), { code: 'not_found' })
  const { key } = await ada(createKey, { body: { name: 'reader', scopes: ['git:read'] } })
  await assert.rejects(read(caller({ baseUrl: house.server.url, key })), { code: 'insufficient_scope' })
})

test('a sandbox that Parley works in does not get the token', async () => {
  const sandbox = await ada(createSandbox, {})
  await soon('it runs', async () => (await ada(getSandbox, { params: { id: sandbox.id } })).status === 'RUNNING')
  const inside = caller({ baseUrl: house.server.url, key: sandbox.session_api_key ?? '' })
  const id = randomUUID()
  const body = { id, workspace: { working_dir: '/w' }, agent: { llm: { model: 'openai/gpt-5' } } }
  await inside(reportConversation, { body })
  assert.equal(await read(inside), forgeToken)
  await house.server.server.database.rows(
    sql`update conversation_report set made = false where conversation_id = ${id}`,
  )
  await assert.rejects(read(inside), { code: 'insufficient_scope' })
})
