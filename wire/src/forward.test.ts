import assert from 'node:assert/strict'
import { Agent, createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { forwarder, type Onward } from './forward.ts'
import { oddAnswers } from './odd-answers.fixture.ts'
import { passedOn } from './proxy-headers.ts'

type Upstream = Parameters<typeof createServer>[1]

/** A program behind a forwarder; `opened` counts the streams to it. */
async function behind(program: Upstream, onUpgrade?: (request: IncomingMessage, socket: Duplex) => void) {
  const upstream = createServer(program)
  if (onUpgrade) upstream.on('upgrade', onUpgrade)
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const streams: Socket[] = []
  const forward = forwarder(async () => {
    const socket = connect((upstream.address() as AddressInfo).port, '127.0.0.1')
    streams.push(socket)
    return socket
  })
  const onward = (request: IncomingMessage): Onward => ({
    target: { key: 'one', port: 80 },
    path: request.url ?? '/',
    headers: [
      ...passedOn(request.rawHeaders),
      ...(request.headers.upgrade ? ['Connection', 'Upgrade', 'Upgrade', request.headers.upgrade] : []),
      ...(request.headers['transfer-encoding'] ? ['Transfer-Encoding', 'chunked'] : []),
    ],
    answer: passedOn,
    failed: ({ message }) => ({ status: 502, text: message }),
  })
  const front = createServer((request, response) => forward.request(request, response, onward(request)))
  front.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    forward.upgrade(request, socket, head, onward(request)),
  )
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const { port } = front.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    upstream,
    streams,
    async [Symbol.asyncDispose]() {
      forward.close()
      for (const server of [front, upstream]) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

test('requests and answers go through as they are, on connections that are used again', async () => {
  await using world = await behind((request, response) => {
    response.writeHead(201, { 'x-said': `${request.method} ${request.url}` })
    request.pipe(response)
  })
  const data = 'x'.repeat(200_000)
  for (let at = 0; at < 5; at++) {
    const answer = await fetch(`${world.url}/a?b=${at}`, { method: 'POST', body: data })
    assert.deepEqual([answer.status, answer.headers.get('x-said')], [201, `POST /a?b=${at}`])
    assert.equal(await answer.text(), data)
  }
  assert.ok(world.streams.length < 5)
})

test('an answer that comes in parts is passed on part by part', async () => {
  const { promise: go, resolve } = Promise.withResolvers<void>()
  await using world = await behind((_, response) => {
    response.write('first')
    void go.then(() => response.end('last'))
  })
  const reader = (await fetch(world.url)).body?.getReader()
  assert.equal(String(Buffer.from((await reader?.read())?.value ?? '')), 'first')
  resolve()
  assert.equal(String(Buffer.from((await reader?.read())?.value ?? '')), 'last')
})

test('a request on a kept connection that the program has just closed is sent again', async () => {
  await using world = await behind((_, response) => response.end('fine'))
  const agent = new Agent({ keepAlive: true })
  const ask = () =>
    new Promise<string>((resolve, reject) => {
      httpRequest(world.url, { agent }, (answer) => void answer.on('data', (part) => resolve(String(part))))
        .on('error', reject)
        .end()
    })
  assert.equal(await ask(), 'fine')
  world.upstream.closeAllConnections()
  assert.equal(await ask(), 'fine')
  agent.destroy()
})

test('a program that is not there is answered for, and one that breaks off breaks off', async () => {
  await using world = await behind((request, response) => {
    if (request.url === '/cut')
      return void response.writeHead(200, { 'content-length': 9 }).write('half', () => response.destroy())
    response.destroy()
  })
  const refused = await fetch(`${world.url}/none`, { method: 'POST', body: 'x' })
  assert.equal(refused.status, 502)
  await assert.rejects(fetch(`${world.url}/cut`).then((answer) => answer.text()))
})

test('a program that does not speak HTTP well ends nothing but its own answer', async () => {
  await using world = await behind((request, response) => {
    request.socket.end(oddAnswers[request.url ?? ''] ?? '', 'latin1')
    response.destroy()
  })
  const answers = await Promise.all(
    Object.keys(oddAnswers).map((path) =>
      fetch(`${world.url}${path}`).then(
        async ({ status }) => status,
        () => 0,
      ),
    ),
  )
  assert.deepEqual(answers, [200, 502, 502, 200, 502, 502, 502])
})

test('an upgraded connection carries bytes both ways and ends with either side', async () => {
  const ended = Promise.withResolvers<void>()
  await using world = await behind(
    (_, response) => void response.writeHead(426).end(),
    (_, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Mark: 1\r\n\r\n')
      socket.on('close', () => ended.resolve()).on('error', () => undefined)
      socket.pipe(socket)
    },
  )
  const headers = { Connection: 'Upgrade', Upgrade: 'websocket' }
  const request = httpRequest(`${world.url}/live`, { headers }).end()
  const [answer, socket] = await new Promise<[IncomingMessage, Duplex]>((resolve, reject) =>
    request.on('upgrade', (...args) => resolve([args[0], args[1]])).on('error', reject),
  )
  assert.deepEqual([answer.statusCode, answer.headers['x-mark'], answer.headers.upgrade], [101, '1', 'websocket'])
  socket.write('ping')
  assert.equal(String(await new Promise((resolve) => socket.once('data', resolve))), 'ping')
  socket.destroy()
  await ended.promise
})

test('an upgrade that the program does not want is answered as it answers', async () => {
  await using world = await behind((_, response) => void response.writeHead(426).end('no'), undefined)
  const request = httpRequest(world.url, { headers: { Connection: 'Upgrade', Upgrade: 'websocket' } }).end()
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    request.on('response', resolve).on('error', reject),
  )
  assert.equal(answer.statusCode, 426)
})
