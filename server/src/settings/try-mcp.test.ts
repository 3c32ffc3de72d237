import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { masked } from '@parley/contract/mcp-config'
import { createSecret } from '@parley/contract/secrets'
import { testMcpServer, updateSettings } from '@parley/contract/settings'
import { openTestServer } from '../testing.ts'

const answers: Record<string, (params: { protocolVersion: string }) => object> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'small', version: '1' },
  }),
  'tools/list': () => ({ tools: ['find', 'fetch'].map((name) => ({ name, inputSchema: { type: 'object' } })) }),
}

/** An MCP server of few words behind a key. */
const keys = new Set(['Bearer right', 'Bearer from-a-secret'])
const small = createServer(async (request, answer) => {
  let text = ''
  for await (const piece of request.setEncoding('utf8')) text += piece
  if (!keys.has(request.headers.authorization ?? '')) return answer.writeHead(401).end('who is there?')
  if (request.method !== 'POST') return answer.writeHead(405).end()
  const { id, method, params } = JSON.parse(text)
  const result = answers[method]?.(params)
  if (id === undefined || result === undefined) return answer.writeHead(202).end()
  return answer
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
}).listen(0, '127.0.0.1')
await once(small, 'listening')
after(() => small.close())
const host = `127.0.0.1:${(small.address() as AddressInfo).port}`
const url = `http://${host}/mcp`

test('an MCP server is tried before it is stored: its tools, or the reason in words', async () => {
  await using server = await openTestServer({ privateHosts: [host] })
  const ada = await server.as('ada')
  const tried = await ada(testMcpServer, { body: { kind: 'shttp', url, api_key: 'right' } })
  assert.deepEqual(tried, { ok: true, tools: ['find', 'fetch'], detail: null })
  const wrong = await ada(testMcpServer, { body: { kind: 'shttp', url, api_key: 'wrong' } })
  assert.equal(wrong.ok, false)
  assert.match(wrong.detail ?? '', /401|who is there/)
})

test('a key that is stored or named as a secret is used without being sent again, for its own address only', async () => {
  await using server = await openTestServer({ privateHosts: [host] })
  const ada = await server.as('ada')
  await ada(updateSettings, { body: { mcp_config: { shttp_servers: [{ url, api_key: 'right' }] } } })
  assert.equal((await ada(testMcpServer, { body: { kind: 'shttp', url, api_key: masked } })).ok, true)
  const elsewhere = await ada(testMcpServer, { body: { kind: 'shttp', url: `${url}/other`, api_key: masked } })
  assert.equal(elsewhere.ok, false)
  await ada(createSecret, { body: { name: 'MCP_KEY', value: 'from-a-secret' } })
  assert.equal((await ada(testMcpServer, { body: { kind: 'shttp', url, api_key: '${MCP_KEY}' } })).ok, true)
  assert.ok(!server.said().includes('from-a-secret'))
})

test('an address inside the network is not tried unless the operator allows it', async () => {
  await using server = await openTestServer()
  const ada = await server.as('ada')
  const tried = await ada(testMcpServer, { body: { kind: 'shttp', url, api_key: 'right' } })
  assert.equal(tried.ok, false)
})
