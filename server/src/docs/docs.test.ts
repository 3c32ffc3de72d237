import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKey } from '@parley/contract/keys'
import { createSecret, listSecrets } from '@parley/contract/secrets'
import { openTestServer } from '../testing.ts'
import { documentText, nouns } from './document.ts'
import { docsPage } from './page.ts'

test('the page tells of every call of the contract, and loads nothing from elsewhere', () => {
  const page = docsPage()
  for (const { endpoints } of nouns())
    for (const { path, summary } of endpoints) assert.ok(page.includes(`<code>${path}</code>`), `${summary}: ${path}`)
  const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((found) => found[1] ?? '')
  assert.deepEqual(
    loaded.filter((address) => !/^[#/]/.test(address)),
    [],
  )
  assert.ok(!/<style|style="|<script>| on\w+="/.test(page))
  assert.ok(page.includes('<a href="#type-StartTask">StartTask</a>'))
  const anchors = new Set([...page.matchAll(/id="([^"]+)"/g)].map((found) => `#${found[1]}`))
  assert.deepEqual(
    loaded.filter((address) => address.startsWith('#') && !anchors.has(address)),
    [],
  )
})

test('the contract as a file is the same each time it is made', () => {
  assert.equal(documentText(), documentText())
})

test('contract, documentation, probes and the page need no key', async () => {
  await using server = await openTestServer()
  const get = (path: string) => fetch(`${server.url}${path}`, { headers: { accept: '*/*' } })
  const contract = (await (await get('/openapi.json')).json()) as { openapi: string; paths: object }
  assert.equal(contract.openapi, '3.1.0')
  assert.ok('/api/v1/app-conversations' in contract.paths)
  const docs = await get('/docs')
  assert.match(docs.headers.get('content-type') ?? '', /^text\/html/)
  assert.ok(!(docs.headers.get('content-security-policy') ?? 'unsafe-inline').includes('unsafe-inline'))
  for (const path of ['/docs/docs.css', '/docs/docs.js', '/favicon.svg', '/theme.js', '/alive', '/health', '/ready'])
    assert.equal((await get(path)).status, 200, path)
  assert.equal((await get('/server_info')).status, 401)
})

test('a POST under an idempotency key happens once, over HTTP', async () => {
  await using server = await openTestServer()
  const ada = await server.as('ada')
  const headers = { 'idempotency-key': 'first-secret' }
  const body = { name: 'TOKEN', value: 'hunter2' }
  const made = await ada(createSecret, { body, headers })
  assert.deepEqual(await ada(createSecret, { body, headers }), made)
  assert.equal((await ada(listSecrets)).custom_secrets.length, 1)
  await assert.rejects(ada(createSecret, { body: { ...body, value: 'other' }, headers }), {
    code: 'idempotency_mismatch',
  })
  const once = { 'idempotency-key': 'a-key' }
  const key = await ada(createKey, { body: { name: 'one' }, headers: once })
  assert.equal((await ada(createKey, { body: { name: 'one' }, headers: once })).key, key.key)
})
