import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { oddAnswers } from '@parley/wire/odd-answers.fixture'
import { egressProxy } from './egress-proxy.ts'
import type { Outgoing, Verdict } from './egress.ts'

interface Seen {
  url: string | undefined
  headers: IncomingMessage['headers']
  body: string
}

/** A proxy before an upstream that answers with what it saw. Every host leads to that upstream. */
async function openProxy(decide: (out: Outgoing) => Verdict | Promise<Verdict>, idleMs?: number) {
  const folder = await mkdtemp(join(tmpdir(), 'egress-'))
  const asked: Outgoing[] = []
  const upstream = createServer(async (incoming, outgoing) => {
    const words = oddAnswers[incoming.url ?? '']
    if (words !== undefined) return void incoming.socket.end(words, 'latin1')
    const body = await text(incoming)
    outgoing.setHeader('X-Kept', 'yes').end(JSON.stringify({ url: incoming.url, headers: incoming.headers, body }))
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const { port } = upstream.address() as AddressInfo
  const dial = async (host: string) => {
    if (host === 'down.test') throw new Error('no route')
    return connect(port, '127.0.0.1')
  }
  const gate = { decide: async (out: Outgoing) => (asked.push(out), decide(out)) }
  const proxy = egressProxy({ gate, dial, log: () => undefined, ...(idleMs !== undefined && { idleMs }) })
  const socketPath = join(folder, 's')
  await proxy.listen(() => 'sandbox-1', socketPath)
  return {
    asked,
    socketPath,
    /** One request in absolute form. */
    async get(path: string, headers: Record<string, string> = {}, body?: string) {
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const sent = request({ socketPath, path, headers, method: body === undefined ? 'GET' : 'POST', setHost: false })
        sent.on('response', resolve).on('error', reject).end(body)
      })
      const said = await text(answer)
      return { status: answer.statusCode, headers: answer.headers, said, seen: () => JSON.parse(said) as Seen }
    },
    async [Symbol.asyncDispose]() {
      await proxy.close()
      upstream.closeAllConnections()
      upstream.close()
      await rm(folder, { recursive: true })
    },
  }
}

async function text(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts).toString()
}

const say = (socketPath: string, words: string) =>
  new Promise<string>((resolve) => {
    const socket: Socket = connect(socketPath)
    let said = ''
    socket.on('data', (chunk) => (said += String(chunk))).on('close', () => resolve(said))
    socket.write(words)
  })

test('a host that does not speak HTTP well ends nothing but its own answer', async () => {
  await using proxy = await openProxy(() => ({ allow: true }))
  const answers = await Promise.all(Object.keys(oddAnswers).map((path) => proxy.get(`http://odd.test${path}`)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 502, 502, 200, 502, 502, 502],
  )
  assert.match(answers[1]?.said ?? '', /odd\.test:80 answered with what is not HTTP/)
})

test('a request that the gate allows goes through, with the headers of the gate in place of those of the sandbox', async () => {
  await using proxy = await openProxy(() => ({ allow: true, headers: { Authorization: 'Bearer real' } }))
  const answer = await proxy.get(
    'http://forge.test:8080/a?b=1',
    { authorization: 'Bearer stolen', 'X-Mine': '1', Host: 'evil.test' },
    'hi',
  )
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['x-kept'], 'yes')
  const { url, headers, body } = answer.seen()
  assert.deepEqual(
    [url, body, headers.authorization, headers['x-mine'], headers.host],
    ['/a?b=1', 'hi', 'Bearer real', '1', 'forge.test:8080'],
  )
  const { sandboxId, scheme, host, port, method, path } = proxy.asked[0] as Outgoing
  assert.deepEqual(
    [sandboxId, scheme, host, port, method, path],
    ['sandbox-1', 'http', 'forge.test', 8080, 'POST', '/a?b=1'],
  )
})

test('what belongs to one connection or to the proxy is not passed on', async () => {
  await using proxy = await openProxy(() => ({ allow: true }))
  const { headers } = (
    await proxy.get('http://a.test/', {
      'Proxy-Authorization': 'x',
      'Proxy-Connection': 'y',
      Connection: 'X-Hop',
      'X-Hop': '1',
      TE: 'trailers',
    })
  ).seen()
  assert.deepEqual(
    ['proxy-authorization', 'proxy-connection', 'x-hop', 'te'].filter((name) => name in headers),
    [],
  )
})

test('a refusal is a 403 that names the host and the reason', async () => {
  await using proxy = await openProxy(() => ({ allow: false, reason: 'not on the list' }))
  const answer = await proxy.get('http://evil.test/')
  assert.equal(answer.status, 403)
  assert.equal(answer.headers['x-parley-egress'], 'refused')
  assert.match(answer.said, /evil\.test:80: not on the list/)
})

test('a gate that fails refuses', async () => {
  await using proxy = await openProxy(() => Promise.reject(new Error('database down')))
  const answer = await proxy.get('http://a.test/')
  assert.equal(answer.status, 403)
  assert.doesNotMatch(answer.said, /database/)
})

test('a host that cannot be reached is a 502', async () => {
  await using proxy = await openProxy(() => ({ allow: true }))
  const answer = await proxy.get('http://down.test/')
  assert.deepEqual([answer.status, answer.headers['x-parley-egress']], [502, undefined])
})

test('a tunnel carries bytes both ways once the gate allows its host', async () => {
  await using proxy = await openProxy(({ host }) =>
    host === 'a.test' ? { allow: true } : { allow: false, reason: 'no' },
  )
  const inner = 'GET /inner HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n'
  const said = await say(proxy.socketPath, `CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n${inner}`)
  assert.match(said, /^HTTP\/1\.1 200 [^]*"url":"\/inner"/)
  assert.deepEqual([proxy.asked[0]?.method, proxy.asked[0]?.path, proxy.asked[0]?.port], [null, null, 443])
  const refused = await say(proxy.socketPath, 'CONNECT b.test:443 HTTP/1.1\r\nHost: b.test\r\n\r\n')
  assert.match(refused, /^HTTP\/1\.1 403 [^]*X-Parley-Egress: refused[^]*b\.test:443: no/)
})

test('an origin-form request, a junk target and a header of 64 KiB are refused', async () => {
  await using proxy = await openProxy(() => ({ allow: true }))
  assert.equal((await proxy.get('/etc/passwd')).status, 400)
  assert.equal((await proxy.get('ftp://a.test/')).status, 400)
  assert.match(await say(proxy.socketPath, 'CONNECT a.test HTTP/1.1\r\nHost: a\r\n\r\n'), /^HTTP\/1\.1 400/)
  assert.match(
    await say(proxy.socketPath, `GET http://a.test/ HTTP/1.1\r\nX: ${'x'.repeat(65_536)}\r\n\r\n`),
    /^HTTP\/1\.1 4/,
  )
  assert.deepEqual(proxy.asked, [])
})

test('a full name with its dot is the same host', async () => {
  await using proxy = await openProxy(() => ({ allow: true }))
  await proxy.get('http://A.test./')
  assert.equal(proxy.asked[0]?.host, 'a.test')
})

test('one sandbox has 200 connections at most, and those that it has go on working', async () => {
  await using proxy = await openProxy(() => ({ allow: true }))
  const opened: Socket[] = []
  const closed = Promise.withResolvers<void>()
  for (let count = 0; count < 201; count++) {
    const socket = connect(proxy.socketPath).on('error', () => undefined)
    socket.on('close', () => closed.resolve())
    opened.push(socket)
    await new Promise((resolve) => socket.once('connect', resolve))
  }
  await closed.promise
  assert.deepEqual(opened.map((socket) => socket.readyState === 'open').indexOf(false), 200)
  const [first] = opened
  first?.write('GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n')
  assert.match(String(await new Promise((resolve) => first?.once('data', resolve))), /^HTTP\/1\.1 200/)
  for (const socket of opened) socket.destroy()
})

test('a connection and a tunnel on which nothing moves are closed', async () => {
  await using proxy = await openProxy(() => ({ allow: true }), 50)
  assert.equal(await say(proxy.socketPath, ''), '')
  const said = await say(proxy.socketPath, 'CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n')
  assert.match(said, /^HTTP\/1\.1 200/)
})
