import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { endpoint } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import { z } from 'zod'
import type { Attempt, Begun, Idempotency, KeptAnswer } from './idempotency.ts'
import { serve } from './serve.ts'
import { openWire, problem } from './testing.ts'

const returns = z.object({ n: z.number() })
const read = endpoint({ method: 'GET', path: '/read', summary: 'Read', access: 'events:read', returns, etag: true })
const write = endpoint({
  method: 'POST',
  path: '/write',
  summary: 'Write',
  access: 'events:write',
  body: returns,
  returns,
})
const box = endpoint({ method: 'GET', path: '/box', summary: 'Box', access: 'sandbox', returns })
const open = endpoint({ method: 'GET', path: '/open', summary: 'Open', access: 'open', returns })
const one = [
  serve(read, () => ({ n: 1 })),
  serve(write, ({ body }) => body),
  serve(box, () => ({ n: 2 })),
  serve(open, () => ({ n: 3 })),
]

test('without a good key there is nothing but 401, and open endpoints ask for none', async () => {
  await using wire = await openWire(one)
  for (const headers of [
    {},
    { authorization: 'Bearer junk' },
    { authorization: 'Bearer' },
    { authorization: 'Basic key-ada' },
  ]) {
    const answer = await fetch(`${wire.url}/read`, { headers: headers as Record<string, string> })
    assert.deepEqual([answer.status, answer.headers.get('www-authenticate')], [401, 'Bearer'], JSON.stringify(headers))
    assert.equal((await problem(answer)).type, '/problems/authentication-error')
  }
  assert.equal((await fetch(`${wire.url}/open`)).status, 200)
})

test('a key may come in three headers, the scheme in any case, and two headers must agree', async () => {
  await using wire = await openWire(one)
  const status = async (headers: Record<string, string>) => (await fetch(`${wire.url}/read`, { headers })).status
  assert.equal(await status({ authorization: 'bEaReR  key-ada' }), 200)
  assert.equal(await status({ 'x-access-token': 'key-ada' }), 200)
  assert.equal(await status({ 'x-session-api-key': 'key-ada' }), 200)
  assert.equal(await status({ authorization: 'Bearer key-ada', 'x-access-token': 'key-ada' }), 200)
  assert.equal(await status({ authorization: 'Bearer key-ada', 'x-access-token': 'key-bob' }), 400)
})

test('a key without the scope is told which one it lacks, and a sandbox key opens sandbox doors only', async () => {
  await using wire = await openWire(one)
  const refused = await wire.post('/write', '{"n":1}', { authorization: 'Bearer key-reader' })
  const said = await problem(refused)
  assert.deepEqual([refused.status, said.code, said.scope], [403, 'insufficient_scope', 'events:write'])
  assert.equal((await wire.get('/read', { authorization: 'Bearer key-box' })).status, 401)
  assert.equal((await wire.get('/box', { authorization: 'Bearer key-box' })).status, 200)
})

test('every answer has the security headers, a request id and the version', async () => {
  await using wire = await openWire(one)
  for (const path of ['/read', '/nowhere']) {
    const { headers } = await wire.get(path, { 'x-request-id': 'trace-me-1234' })
    assert.equal(headers.get('x-request-id'), 'trace-me-1234')
    assert.equal(headers.get('x-api-version'), '1')
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/)
  }
  const odd = await wire.get('/read', { 'x-request-id': 'a b<script>' })
  assert.match(odd.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
})

test('an unchanged answer is 304, and HEAD has the headers without the body', async () => {
  await using wire = await openWire(one)
  const etag = (await wire.get('/read')).headers.get('etag') ?? ''
  assert.match(etag, /^"[\w-]+"$/)
  for (const seen of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = await wire.get('/read', { 'if-none-match': seen })
    assert.deepEqual([again.status, await again.text()], [304, ''], seen)
  }
  assert.equal((await wire.get('/read', { 'if-none-match': '"other"' })).status, 200)
  const head = await fetch(`${wire.url}/read`, { method: 'HEAD', headers: { authorization: 'Bearer key-ada' } })
  assert.deepEqual([head.status, head.headers.get('content-length'), await head.text()], [200, '7', ''])
})

test('a limit is shown on every answer, and an empty bucket is 429 with the time to wait', async () => {
  let left = 2
  const limits = {
    take: () => ({ policy: '"read";q=2;w=60', remaining: --left, resetSeconds: 41.5, ok: left >= 0 }),
  }
  await using wire = await openWire(one, { limits })
  const first = await wire.get('/read')
  assert.equal(first.headers.get('ratelimit-policy'), '"read";q=2;w=60')
  assert.equal(first.headers.get('ratelimit'), '"read";r=1;t=42')
  await wire.get('/read')
  const third = await wire.get('/read')
  const said = await problem(third)
  assert.deepEqual([third.status, said.code, third.headers.get('retry-after')], [429, 'quota_exceeded', '42'])
  assert.equal(third.headers.get('ratelimit'), '"read";r=0;t=42')
  assert.equal((await fetch(`${wire.url}/open`)).headers.get('ratelimit'), null)
})

/** Keeps answers in memory, as a store would. */
function memory(): Idempotency & { kept: Map<string, KeptAnswer | 'busy'> } {
  const kept = new Map<string, KeptAnswer | 'busy'>()
  const prints = new Map<string, string>()
  const nameOf = ({ owner, method, route, key }: Attempt) => [owner, method, route, key].join('|')
  return {
    kept,
    async begin(attempt): Promise<Begun> {
      const name = nameOf(attempt)
      const before = kept.get(name)
      if (before !== undefined && prints.get(name) !== attempt.fingerprint) return { kind: 'mismatch' }
      if (before === 'busy') return { kind: 'busy' }
      if (before) return { kind: 'replay', ...before }
      kept.set(name, 'busy')
      prints.set(name, attempt.fingerprint)
      return { kind: 'new' }
    },
    async end(attempt, answer) {
      if (answer) kept.set(nameOf(attempt), answer)
      else kept.delete(nameOf(attempt))
    },
  }
}

test('a request under an idempotency key happens once, and its answer is replayed byte by byte', async () => {
  let made = 0
  const count = serve(write, async ({ body }) => {
    made++
    if (body.n < 0) throw new Problem('state_conflict')
    if (body.n === 0 && made < 99) throw new Problem('capacity')
    return { n: made }
  })
  await using wire = await openWire([count], { idempotency: memory() })
  const send = (key: string, n: number, who = 'ada') =>
    wire.post('/write', JSON.stringify({ n }), { 'idempotency-key': key, authorization: `Bearer key-${who}` })
  const first = await send('k1', 5)
  const again = await send('"k1"', 5)
  assert.deepEqual([await again.text(), again.status], [await first.text(), 200])
  assert.deepEqual(
    [first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')],
    [null, 'true'],
  )
  assert.equal(made, 1)
  assert.equal((await problem(await send('k1', 6))).code, 'idempotency_mismatch')
  assert.equal(((await (await send('k1', 5, 'bob')).json()) as { n: number }).n, 2)
  assert.deepEqual(
    [await conflict(await send('k2', -1)), await conflict(await send('k2', -1)), made],
    ['409', '409 again', 3],
  )
  await send('k3', 0)
  await send('k3', 0)
  assert.equal(made, 5)
  for (const bad of ['a b', 'x'.repeat(256), 'é', '""'])
    assert.equal((await problem(await send(bad, 1))).code, 'malformed_idempotency_key')
})

const conflict = async (answer: Response) =>
  `${answer.status}${answer.headers.get('idempotency-replayed') === 'true' ? ' again' : ''}`

test('while the first request under a key runs, the second is told to wait', async () => {
  let go: () => void = () => undefined
  const held = new Promise<void>((resolve) => (go = resolve))
  const slow = serve(write, async ({ body }) => (await held, body))
  const idempotency = memory()
  await using wire = await openWire([slow], { idempotency })
  const first = wire.post('/write', '{"n":1}', { 'idempotency-key': 'k' })
  while (idempotency.kept.size === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  const second = await wire.post('/write', '{"n":1}', { 'idempotency-key': 'k' })
  assert.deepEqual([(await problem(second)).code, second.headers.get('retry-after')], ['idempotency_in_progress', '1'])
  go()
  assert.equal((await first).status, 200)
})

test('a bug is a 500 that says nothing, and is logged once with its stack', async () => {
  const bug = serve(open, () => {
    throw new Error('password=hunter2 in /etc/secret')
  })
  await using wire = await openWire([bug])
  const answer = await fetch(`${wire.url}/open`)
  const text = await answer.text()
  assert.equal(answer.status, 500)
  assert.ok(!text.includes('hunter2'))
  const errors = wire.log.lines.filter(({ level }) => level === 'error')
  assert.equal(errors.length, 1)
  const [logged] = errors as unknown as { fields: { err: Error } }[]
  assert.match(logged?.fields.err.stack ?? '', /hunter2/)
})

test('a problem keeps its members and headers', async () => {
  const failing = serve(open, () => {
    throw new Problem('state_conflict', 'It runs.', {
      members: { current_state: 'RUNNING' },
      headers: { 'x-hint': 'pause' },
      retryAfter: 3,
    })
  })
  await using wire = await openWire([failing])
  const answer = await fetch(`${wire.url}/open`)
  const said = await problem(answer)
  assert.deepEqual(
    [said.current_state, said.detail, answer.headers.get('x-hint'), answer.headers.get('retry-after')],
    ['RUNNING', 'It runs.', 'pause', '3'],
  )
  await assert.rejects(wire.as('key-ada')(open), { code: 'state_conflict', detail: 'It runs.' })
})

test('bytes travel in both directions without being held', async () => {
  const up = endpoint({
    method: 'PUT',
    path: '/bytes',
    summary: 'Up',
    access: 'user',
    accepts: 'bytes',
    bodyLimit: 5_000_000,
    returns,
  })
  const down = endpoint({ method: 'GET', path: '/bytes', summary: 'Down', access: 'user', answer: 'bytes' })
  const served = [
    serve(up, async ({ request }) => {
      let n = 0
      for await (const chunk of request.raw) n += (chunk as Buffer).length
      return { n }
    }),
    serve(down, () => ({
      type: 'text/plain',
      name: 'ü"x.txt',
      body: Readable.from([Buffer.from('ab'), Buffer.from('c')]),
    })),
  ]
  await using wire = await openWire(served)
  const ada = wire.as('key-ada')
  const headers = { 'content-type': 'application/octet-stream' }
  assert.deepEqual(await ada(up, { raw: new Uint8Array(3_000_000), headers }), { n: 3_000_000 })
  await assert.rejects(ada(up, { raw: new Uint8Array(5_000_001), headers }), { code: 'payload_too_large' })
  const chunks = Readable.from([Buffer.alloc(3_000_000), Buffer.alloc(3_000_000)])
  await assert.rejects(ada(up, { raw: Readable.toWeb(chunks) as ReadableStream, headers }), {
    code: 'payload_too_large',
  })
  const got = await ada(down)
  assert.equal(await new Response(got.body).text(), 'abc')
  const plain = await wire.get('/bytes')
  assert.equal(
    plain.headers.get('content-disposition'),
    `attachment; filename="__x.txt"; filename*=UTF-8''%C3%BC%22x.txt`,
  )
})

test('the page is served with its files, and its own addresses lead to it, but never those of the API', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'wire-assets-'))
  try {
    await writeFile(join(dir, 'index.html'), '<p>page</p>')
    await writeFile(join(dir, 'app.js'), 'x'.repeat(100))
    await using wire = await openWire(one, { assets: { dir } })
    const page = await fetch(`${wire.url}/conversations/7`, { headers: { accept: 'text/html,*/*' } })
    assert.deepEqual([page.status, await page.text()], [200, '<p>page</p>'])
    assert.match(page.headers.get('content-security-policy') ?? '', /script-src 'self'/)
    assert.equal(await (await fetch(wire.url)).text(), '<p>page</p>')
    const part = await fetch(`${wire.url}/app.js`, { headers: { range: 'bytes=0-9' } })
    assert.deepEqual([part.status, (await part.text()).length], [206, 10])
    for (const path of ['/api/v1/nothing', '/missing.js', '/..%2f..%2fetc%2fpasswd', '/.env']) {
      const answer = await fetch(`${wire.url}${path}`, {
        headers: { accept: path.startsWith('/api') ? 'text/html' : '*/*' },
      })
      assert.equal(answer.status, 404, path)
      await answer.text()
    }
    assert.equal((await wire.post('/read', '{}')).status, 405)
  } finally {
    await rm(dir, { recursive: true })
  }
})

test('a file that has its compressed text beside it goes out compressed, and whole to those who do not take that', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'wire-assets-'))
  try {
    const text = 'word '.repeat(100)
    await writeFile(join(dir, 'app.js'), text)
    await writeFile(join(dir, 'app.js.gz'), gzipSync(text))
    await using wire = await openWire(one, { assets: { dir } })
    const ask = (encodings: string) => fetch(`${wire.url}/app.js`, { headers: { 'accept-encoding': encodings } })
    const [small, whole] = [await ask('br, gzip'), await ask('identity')]
    assert.deepEqual([small.headers.get('content-encoding'), whole.headers.get('content-encoding')], ['gzip', null])
    assert.match(small.headers.get('content-type') ?? '', /javascript/)
    assert.match(small.headers.get('vary') ?? '', /accept-encoding/i)
    assert.deepEqual([await small.text(), await whole.text()], [text, text])
  } finally {
    await rm(dir, { recursive: true })
  }
})

test('closing lets a running call finish and turns new ones away', async () => {
  let go: () => void = () => undefined
  let entered: () => void = () => undefined
  const inside = new Promise<void>((resolve) => (entered = resolve))
  const held = new Promise<void>((resolve) => (go = resolve))
  const slow = serve(read, async () => (entered(), await held, { n: 1 }))
  const wire = await openWire([slow])
  const running = wire.get('/read')
  await inside
  const closed = wire.close(5000)
  const late = await wire.get('/read')
  assert.deepEqual([late.status, late.headers.get('connection'), late.headers.get('retry-after')], [503, 'close', '5'])
  await late.text()
  go()
  assert.equal((await running).status, 200)
  await closed
})

test('closing cuts what does not finish in time', async () => {
  const stuck = serve(read, () => new Promise<never>(() => undefined))
  const wire = await openWire([stuck])
  const running = wire.get('/read')
  running.catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, 50))
  await wire.close(50)
  await assert.rejects(running)
})
