import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { endpoint } from '@parley/contract/endpoint'
import { IdInput } from '@parley/contract/id'
import { Problem } from '@parley/contract/problems'
import { z } from 'zod'
import { serve } from './serve.ts'
import { openWire, type Wire } from './testing.ts'

const id = '0192f0c1-2345-7abc-8def-0123456789ab'
const echo = endpoint({
  method: 'GET',
  path: '/echo/{id}',
  summary: 'Echo',
  access: 'events:read',
  params: z.object({ id: IdInput }),
  answer: 'socket',
})
const served = serve(echo, async ({ who, params, socket }) => {
  if (params.id !== id) throw new Problem('not_found')
  for await (const message of socket.messages) socket.send(`${who.owner}: ${message}`)
})

/** A client's socket with all that was said to it. */
function dial(wire: Wire, path = `/echo/${id}`) {
  const socket = new WebSocket(`${wire.url.replace('http', 'ws')}${path}`)
  const heard: string[] = []
  socket.addEventListener('message', ({ data }) => heard.push(String(data)))
  const closed = once(socket, 'close').then(([event]) => (event as CloseEvent).code)
  return { socket, heard, closed, opened: once(socket, 'open') }
}

const auth = (key: string) => JSON.stringify({ type: 'auth', api_key: key })

test('a socket is opened by its first message, and then carries messages both ways', async () => {
  await using wire = await openWire([served])
  const { socket, heard, opened } = dial(wire)
  await opened
  for (const text of [auth('key-bob'), 'one', 'two']) socket.send(text)
  while (heard.length < 2) await once(socket, 'message')
  assert.deepEqual(heard, ['bob: one', 'bob: two'])
})

test('a socket without a good first message is closed with 4001, an unknown id with 4004', async () => {
  await using wire = await openWire([served], { sockets: { authMs: 50 } })
  for (const first of [auth('junk'), auth(''), 'hello', '[]', undefined]) {
    const { socket, heard, closed, opened } = dial(wire)
    await opened
    if (first !== undefined) socket.send(first)
    assert.equal(await closed, 4001, first)
    assert.equal((JSON.parse(heard[0] ?? '') as { code: string }).code, 'authentication_error')
  }
  const other = dial(wire, `/echo/${id.replace('01', '02')}`)
  await other.opened
  other.socket.send(auth('key-ada'))
  assert.equal(await other.closed, 4004)
})

test('closing the server closes sockets with 1001 without waiting for them', async () => {
  const wire = await openWire([served])
  const { socket, closed, opened, heard } = dial(wire)
  await opened
  socket.send(auth('key-ada'))
  socket.send('x')
  while (heard.length < 1) await once(socket, 'message')
  const started = performance.now()
  await wire.close(20_000)
  assert.equal(await closed, 1001)
  assert.ok(performance.now() - started < 10_000)
})

test('a plain request to a socket address is no socket', async () => {
  await using wire = await openWire([served])
  assert.equal((await wire.get(`/echo/${id}`)).status, 404)
})
