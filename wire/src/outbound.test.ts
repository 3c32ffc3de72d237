import assert from 'node:assert/strict'
import type dns from 'node:dns'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { type Lookup, outbound, type OutboundOptions } from './outbound.ts'
import { OutboundRefused } from './refused.ts'

/** A server on loopback that counts who came. */
async function canary(answer: http.RequestListener = (_, response) => response.end('seen')) {
  const hits: http.IncomingMessage[] = []
  const server = http.createServer((request, response) => {
    hits.push(request)
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    hits,
    port,
    url: `http://127.0.0.1:${port}/`,
    host: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function opened(options: OutboundOptions = {}) {
  const out = outbound({ timeoutMs: 3000, connectTimeoutMs: 1000, ...options })
  return { ...out, [Symbol.asyncDispose]: () => out.close() }
}

/** Resolves every name to the addresses given, in turn one list after the other. */
const names = (...turns: string[][]): Lookup => {
  let turn = 0
  return (_host, _options, done) => {
    const addresses = turns[turn++ % turns.length] ?? []
    done(null, addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })) as dns.LookupAddress[])
  }
}

const hosts = [
  '127.0.0.1',
  '127.1',
  '127.0.0.2',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '0.0.0.0',
  '0',
  'localhost',
  'LOCALHOST',
  '127。0。0。1',
  '①②⑦.⓪.⓪.①',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.254',
  '192.168.1.1',
  '169.254.169.254',
  '169.254.170.2',
  '100.64.0.1',
  '100.127.255.254',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.1.2.3',
  '240.0.0.1',
  '255.255.255.255',
  '192.88.99.1',
  '[::1]',
  '[::]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[::ffff:8.8.8.8]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::a00:1]',
  '[2002:7f00:1::]',
  '[2002:808:808::1]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  '[2001:db8::1]',
  '[fec0::1]',
  '[100::1]',
  '[3fff::1]',
  '[4000::1]',
  '[2600::5efe:7f00:1]',
  '[0:0:0:0:0:ffff:0a00:0001]',
  'LOCALHOST.',
  'a.localhost',
]

test('every written form of an address that leads inside is refused before a connection is made', async () => {
  await using server = await canary()
  await using out = opened()
  assert.ok(hosts.length > 40)
  for (const host of hosts) {
    await assert.rejects(out.fetch(`http://${host}:${server.port}/`), OutboundRefused, host)
    const bare = new URL(`http://${host}`).hostname
    await assert.rejects(out.dial(bare, server.port, AbortSignal.timeout(3000)), OutboundRefused, `dial ${host}`)
  }
  assert.equal(server.hits.length, 0)
})

test('what is no plain web address is refused', async () => {
  await using out = opened()
  const bad = [
    'file:///etc/passwd',
    'ftp://example.com/',
    'gopher://example.com/',
    'data:text/plain,x',
    'javascript:1',
    'x',
    '',
    '//example.com',
    'http://user@example.com/',
    'http://user:pass@example.com/',
    'http://:pass@example.com/',
    'unix:/tmp/s',
  ]
  for (const url of bad) await assert.rejects(out.fetch(url), { name: 'OutboundRefused', reason: 'url' }, url)
})

test('a name is refused when one of its addresses leads inside, whichever place it has', async () => {
  await using server = await canary()
  for (const addresses of [
    ['127.0.0.1'],
    ['93.184.215.14', '127.0.0.1'],
    ['2606:2800:21f::1', '::1'],
    ['::ffff:127.0.0.1'],
  ]) {
    await using out = opened({ lookup: names(addresses) })
    await assert.rejects(out.fetch(`http://rebound.test:${server.port}/`), OutboundRefused, addresses.join())
    await assert.rejects(out.dial('rebound.test', server.port, AbortSignal.timeout(3000)), OutboundRefused)
  }
  assert.equal(server.hits.length, 0)
})

test('a name that resolves to the outside once and to the inside next time never leads inside', async () => {
  await using server = await canary()
  // The first address passes the check and answers nothing: there is no route to it, or no server on this port.
  await using out = opened({ lookup: names(['2620:fe::9'], ['127.0.0.1']), connectTimeoutMs: 50, timeoutMs: 200 })
  for (let flip = 0; flip < 5; flip++) {
    await assert.rejects(out.fetch(`http://flip.test:${server.port}/`))
    await assert.rejects(out.dial('flip.test', server.port, AbortSignal.timeout(100)))
  }
  assert.equal(server.hits.length, 0)
})

test('a private host that the operator named is reached at exactly its port', async () => {
  await using server = await canary()
  await using other = await canary()
  await using out = opened({ privateHosts: [server.host, `box.test:${server.port}`], lookup: names(['127.0.0.1']) })
  assert.equal(await (await out.fetch(server.url)).text(), 'seen')
  assert.equal(await (await out.fetch(`http://BOX.test:${server.port}/`)).text(), 'seen')
  const socket = await out.dial('127.0.0.1', server.port, AbortSignal.timeout(3000))
  socket.destroy()
  await assert.rejects(out.fetch(other.url), OutboundRefused)
  await assert.rejects(out.fetch(`http://box.test:${other.port}/`), OutboundRefused)
  assert.equal(other.hits.length, 0)
})

test('a redirect is refused unless asked for, and then checked as the first address was', async () => {
  await using inside = await canary()
  await using server = await canary((_, response) => response.writeHead(302, { location: inside.url }).end())
  await using out = opened({ privateHosts: [server.host] })
  await assert.rejects(out.fetch(server.url), { name: 'OutboundRefused', reason: 'redirect' })
  await assert.rejects(out.fetch(server.url, { redirects: 3 }), { name: 'OutboundRefused', reason: 'address' })
  assert.equal(inside.hits.length, 0)
})

test('a redirect to another origin takes no credentials along', async () => {
  await using end = await canary()
  await using server = await canary((_, response) => response.writeHead(307, { location: end.url }).end())
  await using out = opened({ privateHosts: [server.host, end.host] })
  const headers = { authorization: 'Bearer x', 'x-api-key': 'y', accept: 'text/plain' }
  await (await out.fetch(server.url, { redirects: 1, headers })).text()
  const [hit] = end.hits
  assert.deepEqual(
    [hit?.headers.authorization, hit?.headers['x-api-key'], hit?.headers.accept],
    [undefined, undefined, 'text/plain'],
  )
})

test('an answer that is too large fails while it is read', async () => {
  await using server = await canary((_, response) => response.end(Buffer.alloc(100_000)))
  await using out = opened({ privateHosts: [server.host], bodyCap: 1000 })
  const answer = await out.fetch(server.url)
  await assert.rejects(answer.arrayBuffer(), { name: 'OutboundRefused', reason: 'too_large' })
})

test('a server that does not answer is left at the deadline', async () => {
  await using server = await canary(() => undefined)
  await using out = opened({ privateHosts: [server.host], timeoutMs: 100 })
  await assert.rejects(out.fetch(server.url), { name: 'TimeoutError' })
})
