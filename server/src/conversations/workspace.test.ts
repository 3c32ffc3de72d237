import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainConversation, getFinalResponse } from '@parley/contract/conversation-insight'
import { deleteConversation, updateConversation } from '@parley/contract/conversations'
import { getSharedConversations, getSharedEvent, searchSharedEvents, sharedKinds } from '@parley/contract/shared'
import { getStartTasks, startConversation } from '@parley/contract/start-tasks'
import { getV0Conversation, startV0Conversation } from '@parley/contract/v0'
import { downloadFile, listFiles, readFile } from '@parley/contract/workspace'
import type { Caller } from '@parley/wire/call'
import { openTestServer } from '../testing.ts'

/** Until `look` gives something; a start or a run needs a moment. */
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + 40_000
  for (;;) {
    const seen = await look()
    if (seen !== undefined) return seen
    if (Date.now() > end) throw new Error('it did not come about in time')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function started(caller: Caller, message: string): Promise<string> {
  const content = [{ type: 'text' as const, text: message }]
  const task = await caller(startConversation, { body: { initial_message: { content, run: true } } })
  return until(async () => {
    const [now] = await caller(getStartTasks, { query: { ids: [task.id] } })
    if (now?.status === 'ERROR') throw new Error(now.detail ?? 'the start failed')
    return now?.app_conversation_id ?? undefined
  })
}

const finished = (caller: Caller, id: string) =>
  until(async () => {
    const why = await caller(explainConversation, { params: { id } })
    return why.execution_status === 'finished' ? why : undefined
  })

test('a finished conversation says what came of it, keeps its files, and can be downloaded whole', async () => {
  await using server = await openTestServer()
  const ada = await server.as('ada')
  const id = await started(ada, 'Say hello.')
  const why = await finished(ada, id)
  assert.equal(why.waits_for, 'nothing')
  const final = await ada(getFinalResponse, { params: { id } })
  assert.ok(final.response !== null && final.response.length > 0 && final.event_id !== null)

  const form = new FormData()
  form.append('file', new Blob(['# Plan\n']), 'PLAN.md')
  const headers = { authorization: `Bearer ${await server.keyOf('ada')}` }
  const uploaded = await fetch(`${server.url}/api/v1/app-conversations/${id}/files/upload`, {
    method: 'POST',
    headers,
    body: form,
  })
  assert.equal(uploaded.status, 201)
  assert.equal(await ada(readFile, { params: { id }, query: { file_path: 'PLAN.md' } }), '# Plan\n')
  const { files } = await ada(listFiles, { params: { id } })
  assert.ok(files.some(({ path }) => path === 'PLAN.md'))
  const sent = await ada(downloadFile, { params: { id }, query: { path: 'PLAN.md' } })
  assert.equal(await new Response(sent.body).text(), '# Plan\n')

  const zip = await fetch(`${server.url}/api/v1/app-conversations/${id}/download`, { headers })
  assert.equal(zip.headers.get('content-type'), 'application/zip')
  assert.equal(
    Buffer.from(await zip.arrayBuffer())
      .subarray(0, 2)
      .toString(),
    'PK',
  )

  const bob = await server.as('bob')
  const foreign = { params: { id } }
  await assert.rejects(bob(explainConversation, foreign), { code: 'not_found' })
  await assert.rejects(bob(getFinalResponse, foreign), { code: 'not_found' })
  await assert.rejects(bob(listFiles, foreign), { code: 'not_found' })
  await assert.rejects(bob(readFile, foreign), { code: 'not_found' })
})

test('a stranger reads what is public, and nothing else', async () => {
  await using server = await openTestServer()
  const ada = await server.as('ada')
  const stranger = await server.as('nobody')
  const id = await started(ada, 'Say hello.')
  await finished(ada, id)
  const shared = () => stranger(getSharedConversations, { query: { ids: [id] } })
  assert.deepEqual(await shared(), [null])
  await assert.rejects(stranger(searchSharedEvents, { query: { conversation_id: id } }), { code: 'not_found' })

  await ada(updateConversation, { params: { id }, body: { public: true } })
  const [seen] = await shared()
  assert.equal(seen?.id, id)
  assert.ok(seen && !('sandbox_id' in seen) && !('session_api_key' in seen) && !('created_by_user_id' in seen))
  const { items } = await stranger(searchSharedEvents, { query: { conversation_id: id, limit: 1 } })
  const kinds: readonly string[] = sharedKinds
  assert.ok(items.length === 1 && items.every(({ kind }) => kinds.includes(kind)))
  const event_id = items[0]?.id ?? ''
  assert.equal((await stranger(getSharedEvent, { params: { conversation_id: id, event_id } }))?.id, event_id)

  await ada(updateConversation, { params: { id }, body: { public: false } })
  assert.deepEqual(await shared(), [null])
  assert.equal(await stranger(getSharedEvent, { params: { conversation_id: id, event_id } }), null)
  await ada(deleteConversation, { params: { id } })
})

test('a V0 client starts a conversation and finds it under the id it was given', async () => {
  await using server = await openTestServer()
  const ada = await server.as('ada')
  const { conversation_id: id, status } = await ada(startV0Conversation, { body: { initial_user_msg: 'Say hello.' } })
  assert.equal(status, 'ok')
  const seen = await ada(getV0Conversation, { params: { id } })
  assert.equal(seen?.conversation_id, id)
  await until(async () => ((await ada(getV0Conversation, { params: { id } }))?.status === 'RUNNING' ? true : undefined))
  assert.equal(await (await server.as('bob'))(getV0Conversation, { params: { id } }), null)
  const headers = { authorization: `Bearer ${await server.keyOf('ada')}` }
  const answer = await fetch(`${server.url}/api/conversations/${id}`, { headers })
  assert.match(answer.headers.get('deprecation') ?? '', /^@\d+$/)
  assert.equal(answer.headers.get('sunset'), 'Wed, 01 Apr 2026 00:00:00 GMT')
})

test('a server without V0 tells a V0 client where to go', async () => {
  await using server = await openTestServer({ env: { PARLEY_V0: 'off' } })
  const ada = await server.as('ada')
  await assert.rejects(ada(startV0Conversation, { body: {} }), { code: 'gone' })
  const id = '0199f3c2-7a10-7c3e-9a51-2f0d6b1c8e44'
  await assert.rejects(ada(getV0Conversation, { params: { id } }), { code: 'gone' })
})
