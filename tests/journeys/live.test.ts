import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { api } from '@parley/contract/api'
import { begin, eventsOf, ofKind, openHouse, rest, runs, say, says } from '../tools/house.ts'

/* What a viewer sees while it happens, and after a connection was lost. */

const house = await openHouse({
  scripts: {
    steps: { turns: [{ repeat: 25, ...runs('echo step-{{i}}') }, { text: 'All steps done.' }] },
    slow: { turns: [{ text: 'A long answer that comes in pieces. '.repeat(8), tokensPerSecond: 300, chunkTokens: 4 }] },
    wait: { turns: [runs('echo first; until [ -e go ]; do sleep 0.05; done; echo last'), { text: 'Done.' }] },
    plain: { turns: [{ text: 'Done.' }] },
  },
})
after(() => house[Symbol.asyncDispose]())
const { ada } = house

type Frames = AsyncIterable<{ id?: string; event?: string; data: Record<string, unknown> }>

/** Frames from a number on, or from the last id of a connection before. */
const stream = (id: string, from: { after_seq?: number; last?: string | undefined }): Promise<Frames> => {
  const query = from.after_seq === undefined ? {} : { after_seq: from.after_seq }
  const headers: Record<string, string> = from.last === undefined ? {} : { 'last-event-id': from.last }
  return ada.call(api.events.stream, { params: { id }, query, headers }, { signal: AbortSignal.timeout(30_000) })
}

const isEnd = (data: Record<string, unknown>) => data.key === 'execution_status' && data.value === 'finished'

test('a viewer whose connection breaks again and again sees every event once and in order', async () => {
  const id = await begin(ada, says('[[script:steps]] Go.'))
  const seen: Record<string, unknown>[] = []
  let last: string | undefined
  let connections = 0
  for (let over = false; !over; connections += 1) {
    const before = seen.length
    for await (const frame of await stream(id, last === undefined ? { after_seq: 0 } : { last })) {
      if (frame.id === undefined) continue
      assert.equal(frame.id, String(frame.data.seq))
      last = frame.id
      seen.push(frame.data)
      over = isEnd(frame.data)
      // Cut after a few: the server does not know how many of its frames have arrived.
      if (over || seen.length >= before + 1 + (connections % 4)) break
    }
  }
  assert.ok(connections > 10)
  assert.deepEqual(seen, await eventsOf(ada, id))
  assert.deepEqual(
    seen.map((event) => event.seq),
    seen.map((_, index) => index + 1),
  )
})

test('a viewer who comes from a number sees what is after it, and one who says nothing only what is new', async () => {
  const id = await begin(ada, says('[[script:plain]] One.'))
  const { events } = await rest(ada, id)
  const [from, fresh] = await Promise.all([stream(id, { after_seq: 2 }), stream(id, {})])
  const first = async (frames: Frames) => {
    for await (const { data } of frames) if (data.seq !== undefined) return data.seq
    return undefined
  }
  const fromSeq = first(from)
  const freshSeq = first(fresh)
  assert.equal(await fromSeq, 3)
  const said = await say(ada, id, '[[script:plain]] Two.')
  assert.equal(said, events.length + 1)
  assert.equal(await freshSeq, said)
  await rest(ada, id, said)
})

test('an answer is seen while it is written, and its pieces are the answer', async () => {
  const id = await begin(ada, {})
  const frames = await stream(id, { after_seq: 0 })
  const pieces: Record<string, unknown>[] = []
  let message: Record<string, unknown> | undefined
  const watched = (async () => {
    for await (const { data } of frames) {
      if (data.kind === 'StreamingDeltaEvent' && data.content !== null) pieces.push(data)
      if (data.kind === 'MessageEvent' && data.source === 'agent') message = data
      if (isEnd(data)) return
    }
  })()
  await say(ada, id, '[[script:slow]] Tell me.')
  await watched
  assert.ok(pieces.length > 2, `${pieces.length} pieces`)
  const joined = pieces.map((piece) => piece.content).join('')
  assert.ok(JSON.stringify(message).includes(JSON.stringify(joined).slice(1, -1).trim()))
  let offset = 0
  for (const piece of pieces) {
    assert.equal(piece.offset, offset)
    offset += String(piece.content).length
  }
})

test('the first output of a command is seen while the command still runs', async () => {
  const id = await begin(ada, {})
  const { sandbox_id } = await ada.conversations.get({ params: { id } })
  const frames = await stream(id, { after_seq: 0 })
  await say(ada, id, '[[script:wait]] Wait for it.')
  let output = ''
  let released = false
  for await (const { data } of frames) {
    if (data.kind === 'ToolOutputDelta') output += String(data.content)
    if (data.kind === 'ObservationEvent') assert.ok(released, 'the command ended before it was let go on')
    if (!released && output.includes('first')) {
      released = true
      assert.deepEqual(ofKind(await eventsOf(ada, id), 'ObservationEvent'), [])
      const hands = await house.server.server.driver.hands(sandbox_id ?? '')
      await hands.run({ script: 'touch /workspace/project/go' })
    }
    if (isEnd(data)) break
  }
  assert.ok(released)
  assert.match(output, /first\s+last/)
})

test('followers of a conversation that is not theirs are refused as if there were none', async () => {
  const id = await begin(ada, {})
  const eve = await house.server.as('eve')
  const follow = eve(api.events.stream, { params: { id }, query: { after_seq: 0 } })
  await assert.rejects(follow, { code: 'not_found' })
})
