import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { endpoint } from '@parley/contract/endpoint'
import { idList, IdInput } from '@parley/contract/id'
import { z } from 'zod'
import { serve } from './serve.ts'
import { openWire, problem } from './testing.ts'

/* Everything strangers send, and the exact answer to it. */

const id = '0192f0c1-2345-7abc-8def-0123456789ab'
const body = z.object({
  title: z.string().min(1).max(100),
  count: z.int().optional(),
  kind: z.enum(['plain', 'loud']).optional(),
  tags: z.record(z.string().regex(/^[a-z]+$/), z.string().max(256)).optional(),
  more: z.unknown().optional(),
  at: z.iso.datetime({ offset: true }).optional(),
})

const path = '/api/v1/things'
const access = 'user'
let calls = 0
const served = [
  serve(
    endpoint({ method: 'POST', path, summary: 'Make', access, body, returns: z.object({ ok: z.boolean() }) }),
    () => {
      calls++
      return { ok: true }
    },
  ),
  serve(
    endpoint({
      method: 'POST',
      path: `${path}/strict`,
      summary: 'Make',
      access,
      body,
      lenient: false,
      bodyLimit: 1000,
    }),
    () => undefined,
  ),
  serve(
    endpoint({
      method: 'GET',
      path,
      summary: 'List',
      access,
      query: z.object({ ids: idList(100).optional(), limit: z.coerce.number().int().min(1).max(100).default(20) }),
      returns: z.object({ limit: z.number() }),
    }),
    ({ query }) => ({ limit: query.limit }),
  ),
  serve(
    endpoint({
      method: 'GET',
      path: `${path}/{id}`,
      summary: 'One',
      access,
      params: z.object({ id: IdInput }),
      returns: z.string(),
    }),
    ({ params }) => params.id,
  ),
]

const wire = await openWire(served, { requestTimeoutMs: 1000 })
after(() => wire.close(0))

const utf16 = Buffer.from('{"title":"x"}', 'utf16le')
const bodies: [what: string, body: string | Buffer | undefined, status: number, code: string][] = [
  ['empty', undefined, 400, 'malformed_request'],
  ['null', 'null', 422, 'validation_error'],
  ['an array', '[]', 422, 'validation_error'],
  ['a text', '"x"', 422, 'validation_error'],
  ['half an object', '{', 400, 'malformed_request'],
  ['a byte order mark', '\ufeff{"title":"x"}', 400, 'malformed_request'],
  ['UTF-16', utf16, 400, 'malformed_request'],
  ['UTF-16 with its mark', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), 400, 'malformed_request'],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 400, 'malformed_request'],
  ['an escaped NUL', '{"title":"a\\u0000b"}', 400, 'malformed_request'],
  ['a bare NUL', '{"title":"a\0b"}', 400, 'malformed_request'],
  ['half a surrogate pair', '{"title":"\\ud800"}', 400, 'malformed_request'],
  ['half a surrogate pair in a name', '{"title":"x","\\udc00":1}', 400, 'malformed_request'],
  ['a nesting of 65', `{"title":"x","more":${'['.repeat(64)}${']'.repeat(64)}}`, 400, 'malformed_request'],
  ['a nesting of 50000', '['.repeat(50_000) + ']'.repeat(50_000), 400, 'malformed_request'],
  ['a member twice', '{"title":"x","title":"y"}', 400, 'malformed_request'],
  ['a member twice, once escaped', '{"title":"x","t\\u0069tle":"y"}', 400, 'malformed_request'],
  ['a member twice deep inside', '{"title":"x","more":[{"a\\\\":1,"a\\\\":2}]}', 400, 'malformed_request'],
  ['__proto__', '{"title":"x","__proto__":{"a":1}}', 400, 'malformed_request'],
  ['__proto__ deep inside', '{"title":"x","more":{"__proto__":{"a":1}}}', 400, 'malformed_request'],
  ['constructor.prototype', '{"title":"x","constructor":{"prototype":{}}}', 400, 'malformed_request'],
  ['1e400', '{"title":"x","count":1e400}', 400, 'malformed_request'],
  ['NaN', '{"title":"x","count":NaN}', 400, 'malformed_request'],
  ['2^53+1', '{"title":"x","count":9007199254740993}', 422, 'validation_error'],
  ['a fraction', '{"title":"x","count":1.5}', 422, 'validation_error'],
  ['a number as text', '{"title":"x","count":"1"}', 422, 'validation_error'],
  ['an unknown enum value', '{"title":"x","kind":"quiet"}', 422, 'validation_error'],
  ['an enum value in capitals', '{"title":"x","kind":"PLAIN"}', 422, 'validation_error'],
  ['a tag name', '{"title":"x","tags":{"A-b":"1"}}', 422, 'validation_error'],
  ['a tag value', `{"title":"x","tags":{"a":"${'v'.repeat(257)}"}}`, 422, 'validation_error'],
  ['a long title', JSON.stringify({ title: 'x'.repeat(100_000) }), 422, 'validation_error'],
  ['no title', '{}', 422, 'validation_error'],
  ['30 February', '{"title":"x","at":"2026-02-30T00:00:00Z"}', 422, 'validation_error'],
  ['year 10000', '{"title":"x","at":"10000-01-01T00:00:00Z"}', 422, 'validation_error'],
  ['1 MiB and a byte', `{"title":"${'x'.repeat(1024 * 1024 - 11)}"}`, 413, 'payload_too_large'],
]

for (const [what, bad, status, code] of bodies) {
  test(`a body with ${what} is answered ${status} ${code}`, async () => {
    const before = calls
    const answer = await wire.post(path, bad)
    const said = await problem(answer)
    assert.deepEqual([answer.status, said.code], [status, code])
    assert.equal(answer.headers.get('content-type'), 'application/problem+json')
    assert.equal(said.instance, `urn:request:${answer.headers.get('x-request-id')}`)
    assert.equal(calls, before)
  })
}

const accepted: [what: string, body: string][] = [
  ['a nesting of 64', `{"title":"x","more":${'['.repeat(63)}${']'.repeat(63)}}`],
  ['-0', '{"title":"x","count":-0}'],
  ['colons, quotes and backslashes in texts', JSON.stringify({ title: '":{\\":\\\\"', more: { 'a:b"': '\\' } })],
  ['a title from right to left', '{"title":"\u202eabc"}'],
  [
    '100,000 members',
    JSON.stringify({ title: 'x', more: Object.fromEntries(Array.from({ length: 90_000 }, (_, n) => [n, 1])) }),
  ],
]
for (const [what, good] of accepted) {
  test(`a body with ${what} is read`, async () => assert.equal((await wire.post(path, good)).status, 200))
}

const addresses: [address: string, status: number, code: string][] = [
  ...['0', '-1', '101', '1e9', 'abc', '', '1&limit=2', '1.5', 'NaN'].map((limit): [string, number, string] => [
    `${path}?limit=${limit}`,
    422,
    'validation_error',
  ]),
  ...['', 'x', '%20'.repeat(36), `{${id}}`, `${id},`, 'a'.repeat(2000), '%00'].map((bad): [string, number, string] => [
    `${path}?ids=${bad}`,
    400,
    bad === '%00' ? 'malformed_request' : 'malformed_id',
  ]),
  [`${path}?${`ids=${id}&`.repeat(101)}`, 400, 'too_many_ids'],
  ...['not-a-uuid', '%20'.repeat(36), `%7B${id}%7D`, 'a'.repeat(2000), '%2e%2e%2fx', `${id};x=1`].map(
    (bad): [string, number, string] => [`${path}/${bad}`, 400, 'malformed_id'],
  ),
  [`${path}/%00`, 400, 'malformed_request'],
  [`${path}/%zz`, 400, 'malformed_request'],
  [`${path}/${id}/more`, 404, 'not_found'],
  [`//api//v1//things`, 404, 'not_found'],
  [`${path};x=1`, 404, 'not_found'],
  [`${path}?q=${'x'.repeat(17_000)}`, 414, 'uri_too_long'],
  [`${path}?q=${'x'.repeat(100_000)}`, 414, 'uri_too_long'],
]
for (const [address, status, code] of addresses) {
  test(`GET ${address.slice(0, 60)} (${address.length}) is answered ${status} ${code}`, async () => {
    const answer = await wire.get(address)
    assert.deepEqual([answer.status, (await problem(answer)).code], [status, code])
  })
}

test('an id in capitals, without dashes, or of zeros is an id', async () => {
  for (const good of [id.toUpperCase(), id.replaceAll('-', ''), '00000000-0000-0000-0000-000000000000']) {
    assert.equal((await wire.get(`${path}/${good}`)).status, 200, good)
  }
})

const types: [type: string, status: number][] = [
  ['text/plain', 415],
  ['application/x-www-form-urlencoded', 415],
  ['application/json; charset=utf-16', 415],
  ['nonsense', 415],
  ['application/json; charset=UTF-8', 200],
  ['application/merge-patch+json', 200],
]
for (const [type, status] of types) {
  test(`a body of type ${type} is answered ${status}`, async () => {
    assert.equal((await wire.post(path, '{"title":"x"}', { 'content-type': type })).status, status)
  })
}

test('a compressed body is refused before it is read', async () => {
  const answer = await wire.post(path, gzipSync(Buffer.alloc(1_000_000)), { 'content-encoding': 'gzip' })
  assert.deepEqual([answer.status, (await problem(answer)).code], [415, 'unsupported_media_type'])
})

test('unknown fields are named in a header where the endpoint is lenient, and refused where it is not', async () => {
  const lenient = await wire.post(path, '{"title":"x","colour":1,"\u00fc\\n":2}')
  assert.deepEqual([lenient.status, lenient.headers.get('x-ignored-fields')], [200, 'colour, %C3%BC%0A'])
  const strict = await wire.post(`${path}/strict`, '{"title":"x","colour":1}')
  const said = await problem(strict)
  assert.deepEqual([strict.status, said.code], [422, 'validation_error'])
  const errors = [
    { pointer: '/colour', loc: ['body', 'colour'], msg: 'There is no such field.', type: 'unrecognized_keys' },
  ]
  assert.deepEqual(said.errors, errors)
})

test('a validation error says where, and never what was sent', async () => {
  const answer = await wire.post(path, '{"title":"","kind":"s3cret-value","tags":{"a":5}}')
  const text = await answer.text()
  const errors = (JSON.parse(text) as { errors: { pointer: string }[] }).errors
  assert.deepEqual(
    errors.map(({ pointer }) => pointer),
    ['/title', '/kind', '/tags/a'],
  )
  assert.ok(!text.includes('s3cret-value'))
})

test('an endpoint has its own limit of bytes', async () => {
  const answer = await wire.post(`${path}/strict`, JSON.stringify({ title: 'x', more: 'y'.repeat(1000) }))
  assert.equal(answer.status, 413)
})

test('a wrong method is answered 405 with those that are right', async () => {
  for (const [method, address, allow] of [
    ['PUT', path, 'GET, HEAD, POST'],
    ['PATCH', `${path}/${id}`, 'GET, HEAD'],
    ['DELETE', path, 'GET, HEAD, POST'],
    ['OPTIONS', path, 'GET, HEAD, POST'],
  ] as const) {
    const answer = await fetch(`${wire.url}${address}`, { method })
    assert.deepEqual([answer.status, answer.headers.get('allow')], [405, allow], method)
  }
  assert.match(
    await raw(`TRACE ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
    /^HTTP\/1.1 405 [\s\S]*allow: GET, HEAD, POST/i,
  )
})

test('an Accept header that allows no JSON is answered 406', async () => {
  assert.equal((await wire.get(path, { accept: 'text/html' })).status, 406)
  assert.equal((await wire.get(path, { accept: 'application/json;q=0' })).status, 406)
  for (const accept of ['application/json', 'text/html, application/*;q=0.5', '*/*']) {
    assert.equal((await wire.get(path, { accept })).status, 200, accept)
  }
})

/** What the server answers to these bytes; the connection is closed by it. */
async function raw(text: string): Promise<string> {
  const socket = net.connect(wire.port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => undefined)
  socket.write(text)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}

const broken: [what: string, text: string, start: RegExp][] = [
  [
    'a header of 33 KiB',
    `GET ${path} HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(33 * 1024)}\r\n\r\n`,
    /^HTTP\/1.1 431 [\s\S]*headers_too_large/,
  ],
  ['no HTTP', 'hello\r\n\r\n', /^HTTP\/1.1 400 [\s\S]*malformed_request/],
  [
    'chunks and a length',
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    /^HTTP\/1.1 400 /,
  ],
  [
    'two lengths',
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc`,
    /^HTTP\/1.1 400 /,
  ],
  [
    'a body that does not arrive',
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer key-ada\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`,
    /^HTTP\/1.1 408 [\s\S]*request_timeout/,
  ],
]
for (const [what, text, start] of broken) {
  test(`a request with ${what} gets a problem and the connection is closed`, async () => {
    assert.match(await raw(text), start)
  })
}
