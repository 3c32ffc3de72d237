import assert from 'node:assert/strict'
import net from 'node:net'
import { test } from 'node:test'
import { endpoint } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import fc from 'fast-check'
import { z } from 'zod'
import { readArray, readEvents } from './read-stream.ts'
import { serve } from './serve.ts'
import { openWire, problem } from './testing.ts'

const Step = z.object({ n: z.number() })
const post = endpoint({
  method: 'POST',
  path: '/steps',
  summary: 'Steps',
  access: 'user',
  returns: Step,
  answer: 'json-array',
})
const events = endpoint({
  method: 'GET',
  path: '/events',
  summary: 'Events',
  access: 'user',
  returns: Step,
  answer: 'sse',
})

const held = () => {
  let go: () => void = () => undefined
  const promise = new Promise<void>((resolve) => (go = resolve))
  return { promise, go }
}

async function all<T>(elements: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const element of elements) found.push(element)
  return found
}

test('an element is a whole line the moment it is there, and the end is a valid array', async () => {
  const hold = held()
  async function* steps() {
    yield { n: 1, secret: 'not promised' }
    await hold.promise
    yield { n: 2 }
  }
  await using wire = await openWire([serve(post, steps)])
  const answer = await wire.post('/steps', undefined)
  assert.equal(answer.headers.get('content-type'), 'application/json')
  assert.equal(answer.headers.get('x-accel-buffering'), 'no')
  const reader = textOf(answer)
  let text = ''
  while (!text.includes('}\n')) text += (await reader.read()).value
  assert.equal(text, '[\n{"n":1}\n')
  hold.go()
  for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
  assert.equal(text, '[\n{"n":1}\n,\n{"n":2}\n]')
})

test('a stream without elements is an empty array, and empty lines keep it alive', async () => {
  const hold = held()
  async function* none() {
    await hold.promise
    yield* [] as { n: number }[]
  }
  await using wire = await openWire([serve(post, none)], { pace: { keepAliveMs: 20, firstElementMs: 1 } })
  const answer = await wire.post('/steps', undefined)
  const reader = textOf(answer)
  let text = ''
  while (text.length < 6) text += (await reader.read()).value
  hold.go()
  for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
  assert.match(text, /^\[\n\n{4,}\]$/)
})

test('a stream that fails before its first element is a problem with a status', async () => {
  async function* refused() {
    yield* await Promise.reject<never[]>(new Problem('state_conflict'))
  }
  await using wire = await openWire([serve(post, refused), serve(events, refused as never)])
  assert.equal((await wire.post('/steps', undefined)).status, 409)
  assert.deepEqual((await problem(await wire.get('/events'))).code, 'state_conflict')
})

test('a stream that fails midway ends as a valid array whose last element is the problem', async () => {
  async function* broken() {
    yield { n: 1 }
    throw new Error('hunter2')
  }
  await using wire = await openWire([serve(post, broken)])
  const text = await (await wire.post('/steps', undefined)).text()
  const [first, last] = JSON.parse(text) as [unknown, { code: string }]
  assert.deepEqual([first, last.code, text.includes('hunter2')], [{ n: 1 }, 'internal_error', false])
  const elements = await wire.as('key-ada')(post)
  await assert.rejects(all(elements), { code: 'internal_error' })
})

test('the client going ends the source', async () => {
  const left = held()
  async function* endless() {
    try {
      for (let n = 0; ; n++) {
        yield { n }
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    } finally {
      left.go()
    }
  }
  await using wire = await openWire([serve(post, endless)])
  for await (const { n } of await wire.as('key-ada')(post)) if (n === 2) break
  await left.promise
})

test('events carry their cursor, and a heartbeat keeps a quiet stream alive', async () => {
  const hold = held()
  async function* feed() {
    yield { id: '7', event: 'step', data: { n: 1 } }
    await hold.promise
    yield { id: '8', data: { n: 2 } }
  }
  await using wire = await openWire([serve(events, feed)], { pace: { heartbeatMs: 20 } })
  const answer = await wire.get('/events')
  assert.equal(answer.headers.get('content-type'), 'text/event-stream')
  const reader = textOf(answer)
  let text = ''
  while (!text.includes('}\n\n: \n\n')) text += (await reader.read()).value
  assert.ok(text.startsWith(': \n\nid: 7\nevent: step\ndata: {"n":1}\n\n'))
  hold.go()
  await reader.cancel()
  const frames = await all(await wire.as('key-ada')(events))
  assert.deepEqual(frames, [
    { id: '7', event: 'step', data: { n: 1 } },
    { id: '8', data: { n: 2 } },
  ])
})

test('a reader that stops is cut with a resync instead of being buffered for', async () => {
  let produced = 0
  const left = held()
  async function* flood() {
    try {
      for (;;) yield { id: String(++produced), event: 'x'.repeat(1000), data: { n: produced } }
    } finally {
      left.go()
    }
  }
  await using wire = await openWire([serve(events, flood)], { pace: { stallMs: 100 } })
  const socket = net.connect(wire.port, '127.0.0.1')
  socket.write('GET /events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer key-ada\r\nconnection: close\r\n\r\n')
  socket.pause()
  await left.promise
  assert.ok(produced < 20_000, `${produced} frames were produced for a reader that does not read`)
  socket.resume()
  let text = ''
  for await (const chunk of socket) text = (text + String(chunk)).slice(-5000)
  assert.match(text, /event: resync\ndata: \{"last_id":"\d+"\}\n\n/)
})

test('closing ends live streams as whole arrays', async () => {
  async function* waiting() {
    yield { n: 1 }
    await new Promise(() => undefined)
  }
  const wire = await openWire([serve(post, waiting)])
  const answer = await wire.post('/steps', undefined)
  await wire.close(2000)
  assert.equal(await answer.text(), '[\n{"n":1}\n]')
})

test('a streamed answer under an idempotency key is made once, also when the first reader goes', async () => {
  const kept = new Map<string, { status: number; headers: Record<string, string>; body: string }>()
  const hold = held()
  const ended = held()
  let runs = 0
  async function* steps() {
    yield { n: ++runs }
    await hold.promise
    yield { n: 9 }
  }
  const idempotency = {
    begin: async ({ key }: { key: string }) => {
      const answer = kept.get(key)
      return answer ? { kind: 'replay' as const, ...answer } : { kind: 'new' as const }
    },
    end: async (
      { key }: { key: string },
      answer: { status: number; headers: Record<string, string>; body: string } | undefined,
    ) => {
      if (answer) kept.set(key, answer)
      ended.go()
    },
  }
  await using wire = await openWire([serve(post, steps)], { idempotency })
  const headers = { 'idempotency-key': 'k' }
  for await (const _ of await wire.as('key-ada')(post, { headers })) break
  hold.go()
  await ended.promise
  assert.deepEqual(await all(await wire.as('key-ada')(post, { headers })), [{ n: 1 }, { n: 9 }])
  assert.equal(runs, 1)
})

/** Reads a body piece by piece. */
function textOf({ body }: Response) {
  assert.ok(body)
  return body.pipeThrough(new TextDecoderStream()).getReader()
}

/** The bytes of a text, cut at the places given. */
async function* cut(text: string, places: number[]): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  const borders = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  let from = 0
  for (const border of [...borders, bytes.length]) {
    yield bytes.slice(from, border)
    from = border
  }
}

test('elements are the same wherever the bytes are cut and however the array is written', async () => {
  const values = fc.array(fc.oneof(fc.jsonValue(), fc.object()), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(values, fc.array(fc.nat()), fc.constantFrom(0, 2), async (given, places, indent) => {
      const text = JSON.stringify(given, null, indent)
      assert.deepEqual(await all(readArray(cut(text, places))), JSON.parse(text))
    }),
    { numRuns: 200 },
  )
})

test('events are the same wherever the bytes are cut', async () => {
  const text = ': hi\n\nid: 1\nevent: ä\ndata: {"n":"ü\u{1f600}"}\n\nid: 2\r\ndata: [1,\r\ndata: 2]\r\n\r\n'
  const whole = [
    { id: '1', event: 'ä', data: { n: 'ü\u{1f600}' } },
    { id: '2', data: [1, 2] },
  ]
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat()), async (places) => {
      assert.deepEqual(await all(readEvents(cut(text, places))), whole)
    }),
    { numRuns: 100 },
  )
})

test('an array that is cut off is not taken for whole', async () => {
  await assert.rejects(all(readArray(cut('[\n{"n":1}\n,\n', []))), { code: 'upstream_error' })
})
