import assert from 'node:assert/strict'
import { test } from 'node:test'
import { api } from '@parley/contract/api'
import type { AuditEntry } from '@parley/contract/audit'
import { caller } from '@parley/wire/call'
import { sql } from 'kysely'
import { makeKey } from '../access/key-format.ts'
import { openTestServer, type TestServer } from '../testing.ts'
import { auditStore } from './store.ts'

const brief = ({ action, object, outcome }: AuditEntry) => [action, object, outcome]

async function ownerOf({ server, url }: TestServer) {
  const { id } = await server.users.ensureOwner('owner@example.org')
  const key = makeKey('prl')
  await server.access.ensureKey(id, key, 'owner')
  return caller({ baseUrl: url, key })
}

test('what is changed is written down with who, what, from where and what came of it, never with a value', async () => {
  await using server = await openTestServer()
  const ada = await server.as('ada')
  const { id: user_id } = await ada(api.users.me)
  await ada(api.secrets.create, { body: { name: 'FORGE_TOKEN', value: 'hunter2' } })
  await ada(api.secrets.delete, { params: { id: 'FORGE_TOKEN' } })
  await assert.rejects(ada(api.secrets.delete, { params: { id: 'FORGE_TOKEN' } }))
  const { id } = await ada(api.keys.create, { body: {} })
  await ada(api.keys.delete, { params: { id } })
  await ada(api.settings.update, { body: { llm_api_key: 'hunter3' }, headers: { 'user-agent': 'a test' } })
  const { items } = await ada(api.audit.search)
  assert.deepEqual(items.map(brief), [
    ['settings.update', null, 'ok'],
    ['key.delete', id, 'ok'],
    ['key.create', id, 'ok'],
    ['secret.delete', 'FORGE_TOKEN', 'not_found'],
    ['secret.delete', 'FORGE_TOKEN', 'ok'],
    ['secret.create', 'FORGE_TOKEN', 'ok'],
  ])
  const { user_agent, ip, actor_kind, user_id: whose } = items[0] ?? {}
  assert.deepEqual(
    { user_agent, ip, actor_kind, whose },
    { user_agent: 'a test', ip: '127.0.0.1', actor_kind: 'key', whose: user_id },
  )
  assert.ok(!/hunter[23]/.test(JSON.stringify(items)))
})

test('a failed sign-in is written down, and so is a good one', async () => {
  await using server = await openTestServer()
  const owner = await ownerOf(server)
  const { id } = await owner(api.users.me)
  const stranger = caller({ baseUrl: server.url })
  const credentials = { email: 'owner@example.org', password: 'correct horse battery' }
  await assert.rejects(stranger(api.users.signIn, { body: credentials }))
  const token = await server.server.users.claimToken(id)
  await stranger(api.users.claim, { body: { token, ...credentials } })
  await stranger(api.users.signIn, { body: credentials })
  const { items } = await owner(api.audit.search)
  assert.deepEqual(
    items.map((item) => [...brief(item), item.user_id]),
    [
      ['sign_in', credentials.email, 'ok', id],
      ['owner.claim', credentials.email, 'ok', id],
      ['sign_in', credentials.email, 'sign_in_failed', null],
    ],
  )
})

test('the owner of the server sees all, a member only what is about their own things, page by page', async () => {
  await using server = await openTestServer()
  const owner = await ownerOf(server)
  const [ada, bob] = [await server.as('ada'), await server.as('bob')]
  for (const name of ['A1', 'A2', 'A3']) await ada(api.secrets.create, { body: { name, value: 'x' } })
  await bob(api.secrets.create, { body: { name: 'B1', value: 'x' } })
  const named = async (as: typeof owner) => (await as(api.audit.search)).items.map(({ object }) => object)
  assert.deepEqual(await named(owner), ['B1', 'A3', 'A2', 'A1'])
  assert.deepEqual(await named(bob), ['B1'])

  const first = await ada(api.audit.search, { query: { limit: 2, action__eq: 'secret.create' } })
  const page_id = first.next_page_id ?? ''
  const second = await ada(api.audit.search, { query: { limit: 2, action__eq: 'secret.create', page_id } })
  assert.deepEqual(
    [...first.items, ...second.items].map(({ object }) => object),
    ['A3', 'A2', 'A1'],
  )
  assert.equal(second.next_page_id, null)
  await assert.rejects(bob(api.audit.search, { query: { page_id } }), { code: 'malformed_page_id' })
})

test('an entry that has ended can be neither changed nor deleted', async () => {
  await using server = await openTestServer()
  await (
    await server.as('ada')
  )(api.keys.create, { body: {} })
  const { database } = server.server
  await assert.rejects(database.rows(sql`update audit_entry set outcome = 'not_found'`), /neither changed nor deleted/)
  await assert.rejects(database.rows(sql`delete from audit_entry`), /neither changed nor deleted/)
})

test('an entry that was changed, taken out or put in behind the back of the server shows', async () => {
  await using server = await openTestServer()
  const owner = await ownerOf(server)
  const [ada, bob] = [await server.as('ada'), await server.as('bob')]
  for (const name of ['A1', 'A2', 'A3']) await ada(api.secrets.create, { body: { name, value: 'x' } })
  await assert.rejects(ada(api.secrets.delete, { params: { id: 'A9' } }))
  await bob(api.secrets.create, { body: { name: 'B1', value: 'x' } })
  assert.deepEqual(await owner(api.audit.verify), { ok: true, entries: 5, chains: 2, breaks: [] })
  assert.deepEqual(await bob(api.audit.verify), { ok: true, entries: 1, chains: 1, breaks: [] })

  const { id: user_id } = await ada(api.users.me)
  const { database } = server.server
  await database.rows(sql`alter table audit_entry disable trigger audit_entry_stands`)
  const [second] = await database.rows(sql<{ id: string }>`select id from audit_entry where object = 'A2'`)
  const broken = async (what: 'changed' | 'missing', number: number) => {
    const found = { user_id, number, entry_id: what === 'changed' ? second?.id : null, what }
    assert.deepEqual((await ada(api.audit.verify)).breaks, [found])
    assert.deepEqual((await owner(api.audit.verify)).breaks, [found])
    assert.equal((await bob(api.audit.verify)).ok, true)
  }
  await database.rows(sql`update audit_entry set object = 'A7' where id = ${second?.id}`)
  await broken('changed', 2)
  await database.rows(sql`delete from audit_entry where id = ${second?.id}`)
  await broken('missing', 2)
  await database.rows(sql`delete from audit_entry where chain_seq > 1 and user_id = ${user_id}`)
  await broken('missing', 2)
})

test('entries that are older than they are kept for go, and what is left still holds', async () => {
  await using server = await openTestServer()
  const ada = await server.as('ada')
  for (const name of ['A1', 'A2', 'A3']) await ada(api.secrets.create, { body: { name, value: 'x' } })
  const { database } = server.server
  await database.rows(sql`alter table audit_entry disable trigger audit_entry_stands`)
  await database.rows(sql`update audit_entry set at = now() - interval '401 days' where object in ('A1', 'A2')`)
  await database.rows(sql`alter table audit_entry enable trigger audit_entry_stands`)
  await auditStore(database, Buffer.alloc(32)).forget()
  assert.deepEqual(await ada(api.audit.verify), { ok: true, entries: 1, chains: 1, breaks: [] })
})

test('what is done at the same moment is one chain without a gap', async () => {
  await using server = await openTestServer()
  const ada = await server.as('ada')
  const names = Array.from({ length: 25 }, (_, n) => `N${n}`)
  await Promise.all(names.map((name) => ada(api.secrets.create, { body: { name, value: 'x' } })))
  assert.deepEqual(await ada(api.audit.verify), { ok: true, entries: 25, chains: 1, breaks: [] })
})
