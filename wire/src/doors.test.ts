import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { endpoint } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import { z } from 'zod'
import type { Asked, Doors } from './doors.ts'
import { serve } from './serve.ts'
import { openWire, testDoors } from './testing.ts'

const Step = z.object({ n: z.number() })
const forAnyone = { summary: 'Steps', access: 'user', returns: Step } as const
const array = endpoint({ method: 'POST', path: '/steps', ...forAnyone, answer: 'json-array' })
const events = endpoint({ method: 'GET', path: '/events', ...forAnyone, answer: 'sse' })
const line = endpoint({ method: 'GET', path: '/line', ...forAnyone, answer: 'socket' })

/** Goes on for ever after the first, whatever the signal says. */
async function* endless() {
  yield { n: 1 }
  await new Promise(() => undefined)
}
async function* endlessFrames() {
  for await (const data of endless()) yield { data }
}
const served = [
  serve(array, endless),
  serve(events, endlessFrames),
  serve(line, async ({ socket }) => {
    for await (const message of socket.messages) socket.send(message)
  }),
]

/** Doors whose keys can be made void while they are in use. */
function revocable() {
  const ends = new Set<() => void>()
  const doors: Doors = {
    ...testDoors,
    watch(_who, end) {
      ends.add(end)
      return () => ends.delete(end)
    },
  }
  return { doors, watched: () => ends.size, revoke: () => [...ends].forEach((end) => end()) }
}

test('streams end with the problem when the key that opened them is void', async () => {
  const { doors, revoke, watched } = revocable()
  await using wire = await openWire(served, { doors })
  const ada = wire.as('key-ada')
  const read = async (elements: AsyncIterable<unknown>) => {
    for await (const _ of elements) revoke()
  }
  await assert.rejects(read(await ada(array)), { code: 'authentication_error' })
  await assert.rejects(read(await ada(events)), { code: 'authentication_error' })
  while (watched() > 0) await new Promise((resolve) => setTimeout(resolve, 5))
})

test('a socket is closed with 4001 when the key that opened it is void', async () => {
  const { doors, revoke, watched } = revocable()
  await using wire = await openWire(served, { doors })
  const socket = new WebSocket(`${wire.url.replace('http', 'ws')}/line`)
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'auth', api_key: 'key-ada' }))
  socket.send('hello')
  await once(socket, 'message')
  const closed = once(socket, 'close')
  revoke()
  assert.equal(((await closed)[0] as CloseEvent).code, 4001)
  while (watched() > 0) await new Promise((resolve) => setTimeout(resolve, 5))
})

test('the doors are told of the page a socket comes from, and other cookies do not hinder its first message', async () => {
  const seen: Asked[] = []
  const doors: Doors = {
    identify(asked) {
      seen.push(asked)
      if (asked.key === undefined) throw new Problem('authentication_error')
      return testDoors.identify(asked)
    },
  }
  await using wire = await openWire(served, { doors })
  const headers = { cookie: 'of=another-program', origin: 'https://elsewhere.example' }
  // The platform's WebSocket takes headers beside its protocols.
  const socket = new WebSocket(`${wire.url.replace('http', 'ws')}/line`, { headers } as unknown as string[])
  await once(socket, 'open')
  assert.deepEqual(
    [seen[0]?.isSocket, seen[0]?.origin, seen[0]?.host],
    [true, headers.origin, `127.0.0.1:${wire.port}`],
  )
  socket.send(JSON.stringify({ type: 'auth', api_key: 'key-ada' }))
  socket.send('hello')
  const [message] = (await once(socket, 'message')) as [MessageEvent]
  assert.equal(message.data, 'hello')
})

test('a watch on a key ends with its client, also with one that goes before the key is looked at', async () => {
  const { doors, watched } = revocable()
  const asked = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const slow: Doors = {
    ...doors,
    async identify(all) {
      asked.resolve()
      await goOn.promise
      return doors.identify(all)
    },
    watch(who, end) {
      const unwatch = doors.watch?.(who, end)
      seen.resolve()
      return () => unwatch?.()
    },
  }
  const seen = Promise.withResolvers<void>()
  await using wire = await openWire(served, { doors: slow })
  const socket = connect(wire.port, '127.0.0.1')
  socket.write('GET /events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer key-ada\r\n\r\n')
  await asked.promise
  socket.resetAndDestroy()
  await sleep(50)
  goOn.resolve()
  await seen.promise
  await sleep(20)
  assert.equal(watched(), 0)
})
