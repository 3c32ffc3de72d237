import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { api } from '@parley/contract/api'
import { openTestServer, type TestServer } from '../testing.ts'
import { quietConversation } from './quiet.fixture.ts'

interface Heard {
  kind: string
  seq?: number
  id?: string
  code?: string
}

/** A viewer with all that was said to it; `until` waits for so many frames. */
async function view(server: TestServer, id: string, query = '', headers: Record<string, string> = {}) {
  const url = `${server.url.replace('http', 'ws')}/api/v1/conversation/${id}/events/socket${query}`
  // The platform's WebSocket takes headers beside its protocols.
  const socket = new WebSocket(url, { headers } as unknown as string[])
  const heard: Heard[] = []
  socket.addEventListener('message', ({ data }) => heard.push(JSON.parse(String(data)) as Heard))
  const closed = once(socket, 'close').then(([event]) => (event as CloseEvent).code)
  await once(socket, 'open')
  return {
    heard,
    closed,
    send: (message: object) => socket.send(JSON.stringify(message)),
    close: () => socket.close(),
    async until(count: number) {
      while (heard.length < count) await once(socket, 'message')
      return heard.map(({ seq }) => seq)
    },
  }
}

async function opened(env: Record<string, string> = {}) {
  const server = await openTestServer({ env: { PARLEY_ROLE: 'api', ...env } })
  const ada = await server.as('ada')
  const { id: owner } = await ada(api.users.me)
  return {
    server,
    ada,
    owner,
    key: await server.keyOf('ada'),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const message = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })

test('a viewer says its key in the first frame, gets what was, then what happens, and sends messages', async () => {
  await using house = await opened()
  const { server, ada, owner, key } = house
  const id = await quietConversation(server.server.database, owner, 2)
  const viewer = await view(server, id, '?resend_mode=all')
  viewer.send({ type: 'auth', api_key: key })
  assert.deepEqual(await viewer.until(2), [1, 2])
  await ada(api.events.post, { params: { id }, body: { ...message('by REST'), run: false } })
  assert.deepEqual(await viewer.until(3), [1, 2, 3])
  viewer.send(message('by the socket'))
  assert.deepEqual(await viewer.until(4), [1, 2, 3, 4])
  const { items } = await ada(api.events.search, { params: { id } })
  assert.deepEqual(viewer.heard, items)
  viewer.close()
})

test('a viewer comes again where it was: after a number, an event, or from a time on', async () => {
  await using house = await opened()
  const { server, ada, owner, key } = house
  const id = await quietConversation(server.server.database, owner, 3)
  const { items } = await ada(api.events.search, { params: { id } })
  const queries = {
    '?after_seq=2': [3],
    [`?after_id=${items[0]?.id}`]: [2, 3],
    '?after_timestamp=2020-01-01T00:00:00Z': [1, 2, 3],
  }
  for (const [query, expected] of Object.entries(queries)) {
    const viewer = await view(server, id, query, { authorization: `Bearer ${key}` })
    assert.deepEqual(await viewer.until(expected.length), expected, query)
    viewer.close()
  }
})

test('what is no message is told so in a frame, and the line stays open', async () => {
  await using house = await opened()
  const { server, ada, owner } = house
  const id = await quietConversation(server.server.database, owner)
  const { key } = await ada(api.keys.create, { body: { scopes: ['events:read'] } })
  const viewer = await view(server, id, '', { authorization: `Bearer ${key}` })
  viewer.send({ type: 'auth', api_key: key })
  viewer.send({ role: 'user' })
  await viewer.until(1)
  viewer.send(message('a reader does not write'))
  await viewer.until(2)
  assert.deepEqual(
    viewer.heard.map(({ kind, code }) => [kind, code]),
    [
      ['ServerErrorEvent', 'validation_error'],
      ['ServerErrorEvent', 'insufficient_scope'],
    ],
  )
  viewer.close()
})

test('a foreign conversation is as absent as one that never was', async () => {
  await using house = await opened()
  const { server, owner, key } = house
  const id = await quietConversation(server.server.database, owner)
  for (const name of ['bob', 'ada']) {
    const viewer = await view(server, name === 'bob' ? id : owner)
    viewer.send({ type: 'auth', session_api_key: name === 'bob' ? await server.keyOf('bob') : key })
    assert.equal(await viewer.closed, 4004)
  }
})

test('more than fifty viewers of one conversation are asked to come later', async () => {
  await using house = await opened()
  const { server, owner, key } = house
  const id = await quietConversation(server.server.database, owner)
  const headers = { authorization: `Bearer ${key}` }
  const viewers = await Promise.all(Array.from({ length: 50 }, () => view(server, id, '?after_seq=0', headers)))
  await Promise.all(viewers.map((viewer) => viewer.until(1)))
  assert.equal(await (await view(server, id, '', headers)).closed, 1013)
  viewers[0]?.close()
  await viewers[0]?.closed
  // The server hears of the close a moment after it was said.
  let seen: (number | undefined)[] = []
  while (seen[0] !== 1) seen = await (await view(server, id, '?after_seq=0', headers)).until(1)
})
