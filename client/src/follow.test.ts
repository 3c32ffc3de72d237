import assert from 'node:assert/strict'
import { test } from 'node:test'
import { api } from '@parley/contract/api'
import { Problem } from '@parley/contract/problems'
import type { StartTask } from '@parley/contract/start-tasks'
import { serve, type Served } from '@parley/wire/serve'
import { openWire } from '@parley/wire/testing'
import { parley } from './client.ts'
import { follow, start } from './follow.ts'

const id = '0199f3c2-7a10-7c3e-9a51-2f0d6b1c8e44'

const example = api.conversations.start.example.returns as object

const task = (status: string, detail: string | null = null) =>
  ({ ...example, id, status, detail, ...(status === 'READY' ? { app_conversation_id: id } : {}) }) as StartTask

async function opened(served: Served[]) {
  const wire = await openWire(served)
  return { ...wire, client: parley({ baseUrl: wire.url, key: 'key-ada' }) }
}

/** A log of so many events whose streams each go wrong in their own way. */
const brokenStreams = (length: number, faults: ((seq: number, from: number) => 'end' | 'skip' | 'again' | 'go')[]) => {
  const asked: number[] = []
  const served = serve(api.events.stream, async function* ({ query }) {
    const from = query.after_seq ?? 0
    const fault = faults[asked.length] ?? (() => 'go')
    asked.push(from)
    for (let seq = from + 1; seq <= length; seq++) {
      const what = fault(seq, from)
      if (what === 'end') return
      if (what === 'skip') continue
      yield { id: String(seq), data: { kind: 'MessageEvent', seq } }
      if (what === 'again') yield { id: String(seq), data: { kind: 'MessageEvent', seq } }
    }
  })
  return { served, asked }
}

async function seqs(client: ReturnType<typeof parley>, length: number) {
  const stop = new AbortController()
  const found: (number | undefined)[] = []
  for await (const event of follow(client, id, { signal: stop.signal, retryMs: 1 })) {
    found.push(event.seq)
    if (found.length === length) stop.abort()
  }
  return found
}

test('a conversation is followed without gap or duplicate however often the connection breaks', async () => {
  const { served, asked } = brokenStreams(6, [
    (seq) => (seq === 3 ? 'end' : 'go'),
    (seq) => (seq === 4 ? 'skip' : 'go'),
    (seq) => (seq === 5 ? 'again' : 'go'),
  ])
  await using wire = await opened([served])
  assert.deepEqual(await seqs(wire.client, 6), [1, 2, 3, 4, 5, 6])
  assert.deepEqual(asked, [0, 2, 3])
})

test('a conversation that is not there is not asked for again and again', async () => {
  let asked = 0
  const refusing = serve(api.events.stream, () => {
    asked++
    throw new Problem('not_found')
  })
  await using wire = await opened([refusing])
  await assert.rejects(seqs(wire.client, 1), { code: 'not_found' })
  assert.equal(asked, 1)
})

test('a start is followed to READY, each status once', async () => {
  const streamed = serve(api.conversations.streamStart, async function* () {
    for (const status of ['WORKING', 'STARTING_CONVERSATION', 'READY']) yield task(status)
  })
  await using wire = await opened([streamed])
  const seen: string[] = []
  const ready = await start(wire.client, {}, { changed: ({ status }) => seen.push(status) })
  assert.deepEqual([ready.app_conversation_id, seen], [id, ['WORKING', 'STARTING_CONVERSATION', 'READY']])
})

test('a start whose stream ends early is looked at until it is READY', async () => {
  let looks = 0
  const streamed = serve(api.conversations.streamStart, async function* () {
    yield task('WORKING')
  })
  const polled = serve(api.startTasks.getMany, () => [task(++looks < 3 ? 'WORKING' : 'READY')])
  await using wire = await opened([streamed, polled])
  assert.equal((await start(wire.client, {}, { pollMs: 1 })).status, 'READY')
  assert.equal(looks, 3)
})

test('a start that fails says why', async () => {
  const streamed = serve(api.conversations.streamStart, async function* () {
    yield task('WORKING')
    yield task('ERROR', 'authentication error: no access')
  })
  await using wire = await opened([streamed])
  await assert.rejects(start(wire.client, {}), { message: 'authentication error: no access' })
})
