import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { ask, failure, modelAt, textOf, user } from './conformance.ts'
import type { Limits } from './transport.ts'

/* Answers that no provider should give, and what a call may cost in time and bytes. */

const key = 'sk-secret-key-0123'
type Handler = (request: IncomingMessage, response: ServerResponse) => void

async function answeredBy(handler: Handler, limits: Partial<Limits> = {}) {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    model: modelAt(
      { model: 'openai/x', base_url: `${url}/v1`, api_key: key, extra_headers: { 'x-team': 'blue' } },
      { limits },
    ),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const asks = [user('Hi.')]
const events = { 'content-type': 'text/event-stream' }
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'r1', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

test('a web page instead of an answer is refused with its beginning, never with the key', async () => {
  await using at = await answeredBy((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(`<html>Sign in, ${key}</html>${'x'.repeat(100_000)}`)
  })
  const error = await failure(ask(at.model, asks))
  assert.equal(error.kind, 'bad_request')
  assert.match(error.message, /text\/html.*Sign in/)
  assert.ok(error.message.length <= 4096 && !error.message.includes(key))
})

test('a long error page is cut to 4 KiB', async () => {
  await using at = await answeredBy((_, response) =>
    response.writeHead(500).end(`<h1>Bad</h1> ${'gateway '.repeat(10_000)}`),
  )
  const error = await failure(ask(at.model, asks))
  assert.equal(error.kind, 'transient')
  assert.ok(error.message.includes('Bad') && error.message.length <= 4096)
})

test('an answer over 8 MiB is cut off and not asked for again', async () => {
  await using at = await answeredBy((_, response) => {
    response.writeHead(200, events)
    const line = chunk({ content: 'x'.repeat(64 * 1024) })
    let left = 500
    const more = () => {
      while (left-- > 0 && !response.destroyed && response.write(line));
      if (left <= 0) response.end()
    }
    response.on('drain', more).on('error', () => {})
    more()
  })
  const error = await failure(ask(at.model, asks))
  assert.equal(error.kind, 'bad_request')
  assert.match(error.message, /8 MiB/)
})

test('a redirect is not followed, so the key goes nowhere else', async () => {
  const seen: string[] = []
  await using other = await answeredBy((request, response) => {
    seen.push(request.url ?? '')
    response.end()
  })
  await using at = await answeredBy((_, response) => response.writeHead(307, { location: `${other.url}/v1` }).end())
  const error = await failure(ask(at.model, asks))
  assert.equal(error.kind, 'config')
  assert.deepEqual(seen, [])
})

test('a Retry-After that is a date becomes a time to wait', async () => {
  await using at = await answeredBy((_, response) => {
    const later = new Date(Date.now() + 60_000).toUTCString()
    response
      .writeHead(429, { 'retry-after': later, 'content-type': 'application/json' })
      .end('{"error":{"message":"slow down"}}')
  })
  const error = await failure(ask(at.model, asks))
  assert.equal(error.kind, 'rate_limit')
  assert.ok(error.retryAfterMs !== null && error.retryAfterMs > 50_000 && error.retryAfterMs <= 60_000)
})

test('a model that thinks may be silent longer than one that writes', async () => {
  await using at = await answeredBy(
    (_, response) => {
      response.writeHead(200, events)
      response.write(chunk({ reasoning_content: 'hm' }))
      setTimeout(() => response.end(chunk({ content: 'Yes.' }) + chunk({}, 'stop')), 400)
    },
    { thinkMs: 20_000, idleMs: 100 },
  )
  assert.equal(textOf(await ask(at.model, asks)), 'Yes.')
})

test('a call ends after its whole time, however much comes in', async () => {
  await using at = await answeredBy(
    (_, response) => {
      response.writeHead(200, events)
      const timer = setInterval(() => response.write(chunk({ content: 'more ' })), 20)
      response.on('close', () => clearInterval(timer))
    },
    { callMs: 300 },
  )
  assert.equal((await failure(ask(at.model, asks))).kind, 'transient')
})

test('the key and the extra headers are sent, and nothing of this machine is', async () => {
  const headers: IncomingMessage['headers'][] = []
  await using at = await answeredBy((request, response) => {
    headers.push(request.headers)
    response.writeHead(200, events).end(chunk({ content: 'ok' }) + chunk({}, 'stop'))
  })
  await ask(at.model, asks)
  assert.equal(headers[0]?.authorization, `Bearer ${key}`)
  assert.equal(headers[0]?.['x-team'], 'blue')
  process.env['OPENAI_API_KEY'] = 'sk-of-the-machine'
  process.env['OPENAI_BASE_URL'] = at.url
  try {
    assert.equal((await failure(ask(modelAt({ model: 'openai/gpt-5' }), asks))).kind, 'auth')
    assert.equal((await failure(ask(modelAt({ model: 'openai/gpt-5', api_key: '****' }), asks))).kind, 'auth')
    await ask(modelAt({ model: 'openai/x', base_url: `${at.url}/v1` }), asks)
  } finally {
    delete process.env['OPENAI_API_KEY']
    delete process.env['OPENAI_BASE_URL']
  }
  assert.equal(headers.length, 2)
  assert.equal(headers[1]?.authorization, undefined)
})
