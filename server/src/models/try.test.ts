import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSocketServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { testModel } from '@parley/contract/models'
import { updateSettings } from '@parley/contract/settings'
import { oddAnswers } from '@parley/wire/odd-answers.fixture'
import { openScriptedLlm } from '../../../tests/tools/scripted-llm.ts'
import { openTestServer } from '../testing.ts'

const llm_model = 'openai-compatible/scripted-1'

test('the demo model answers without a key', async () => {
  await using server = await openTestServer()
  const ada = await server.as('ada')
  const tried = await ada(testModel, { body: {} })
  assert.deepEqual([tried.ok, tried.model, tried.detail], [true, 'parley/demo', null])
})

test('a model is tried as it would be stored; what is wrong with it is said, and nothing is stored', async () => {
  await using llm = await openScriptedLlm({ model: 'scripted-1', turns: [{ text: 'OK' }] })
  const place = { llm_base_url: `${llm.url}/v1`, llm_api_key: 'sk-right' }
  await using server = await openTestServer({ privateHosts: [new URL(llm.url).host] })
  const ada = await server.as('ada')
  assert.equal((await ada(testModel, { body: { llm_model, ...place } })).ok, true)
  const unknown = await ada(testModel, { body: { llm_model: 'nobody-knows/this' } })
  assert.deepEqual([unknown.ok, unknown.code], [false, 'config'])
  const keyless = await ada(testModel, { body: { llm_model: 'openai/gpt-5' } })
  assert.deepEqual([keyless.ok, keyless.code], [false, 'auth'])
  assert.match(keyless.detail ?? '', /API key/)
})

test('what answers at the address and is no provider is told of in a sentence', async () => {
  await using odd = createSocketServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(oddAnswers['/status'] ?? ''))
  }).listen(0, '127.0.0.1')
  await once(odd, 'listening')
  const host = `127.0.0.1:${(odd.address() as AddressInfo).port}`
  await using server = await openTestServer({ privateHosts: [host] })
  const ada = await server.as('ada')
  const tried = await ada(testModel, { body: { llm_model, llm_base_url: `http://${host}/v1`, llm_api_key: 'sk-any' } })
  assert.deepEqual(
    [tried.ok, tried.code, tried.detail],
    [false, 'transient', 'The provider cannot be used: the answer is not HTTP.'],
  )
})

test('a stored key is tried at the address it was given for, and at no other', async () => {
  const heard: (string | undefined)[] = []
  const elsewhere = createServer((request, answer) => {
    heard.push(request.headers.authorization)
    answer.writeHead(500).end()
  }).listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
  const other = `127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
  await using llm = await openScriptedLlm({ model: 'scripted-1', turns: [{ text: 'OK' }] })
  await using server = await openTestServer({ privateHosts: [new URL(llm.url).host, other] })
  const ada = await server.as('ada')
  await ada(updateSettings, { body: { llm_model, llm_base_url: `${llm.url}/v1`, llm_api_key: 'sk-of-one-host' } })
  assert.equal((await ada(testModel, { body: {} })).ok, true)
  assert.equal((await ada(testModel, { body: { llm_base_url: `http://${other}/v1` } })).ok, false)
  assert.ok(heard.every((said) => said?.includes('sk-of-one-host') !== true))
  elsewhere.close()
})
