import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { endpoint } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import { z } from 'zod'
import { readFiles, type UploadedFile } from './multipart.ts'
import { serve } from './serve.ts'
import { openWire, problem } from './testing.ts'

const upload = endpoint({
  method: 'POST',
  path: '/upload',
  summary: 'Upload',
  access: 'user',
  accepts: 'multipart',
  bodyLimit: 1024 * 1024,
  returns: z.array(z.string()),
})

const measured = async ({ field, name, body }: UploadedFile) => `${field} ${name} ${(await buffer(body)).length}`

const openUploads = (take: (file: UploadedFile) => Promise<string> = measured) =>
  openWire([
    serve(upload, async ({ request }) => {
      const seen: string[] = []
      await readFiles(request, async (file) => void seen.push(await take(file)))
      return seen
    }),
  ])

const form = (sizes: Record<string, number>): FormData => {
  const data = new FormData()
  data.append('note', 'not a file')
  for (const [name, size] of Object.entries(sizes)) data.append('file', new Blob([new Uint8Array(size)]), name)
  return data
}

const send = (url: string, body: FormData | string, headers: Record<string, string> = {}) =>
  fetch(`${url}/upload`, { method: 'POST', headers: { authorization: 'Bearer key-ada', ...headers }, body })

test('files of a form are taken in turn, whole and under their names', async () => {
  await using wire = await openUploads()
  const answer = await send(wire.url, form({ 'a.txt': 3, 'b.bin': 300_000, 'empty.txt': 0 }))
  assert.deepEqual(await answer.json(), ['file a.txt 3', 'file b.bin 300000', 'file empty.txt 0'])
})

test('a form that is too large is refused, and the file under way is told', async () => {
  const ends: string[] = []
  await using wire = await openUploads((file) =>
    buffer(file.body).then(
      () => 'whole',
      (error: Error) => {
        ends.push(error.name)
        throw error
      },
    ),
  )
  const answer = await send(wire.url, form({ 'big.bin': 2 * 1024 * 1024 }))
  assert.equal(answer.status, 413)
  // A body that says its length is refused before it is read; one in pieces when it passes the limit.
  const pieces = new ReadableStream({
    start(controller) {
      controller.enqueue(
        new TextEncoder().encode('--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'),
      )
      for (let n = 0; n < 20; n++) controller.enqueue(new Uint8Array(100_000))
      controller.close()
    },
  })
  const streamed = await fetch(`${wire.url}/upload`, {
    method: 'POST',
    headers: { authorization: 'Bearer key-ada', 'content-type': 'multipart/form-data; boundary=x' },
    body: pieces,
    duplex: 'half',
  } as RequestInit)
  assert.equal((await problem(streamed)).code, 'payload_too_large')
  assert.deepEqual(ends, ['Problem'])
})

test('a form that breaks off is malformed, and so is one without a boundary', async () => {
  await using wire = await openUploads()
  const type = { 'content-type': 'multipart/form-data; boundary=x' }
  const cut = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf of'
  assert.equal((await problem(await send(wire.url, cut, type))).code, 'malformed_request')
  const bare = await send(wire.url, cut, { 'content-type': 'multipart/form-data; charset=x' })
  assert.equal((await problem(bare)).code, 'malformed_request')
  const json = await send(wire.url, '{}', { 'content-type': 'application/json' })
  assert.equal((await problem(json)).code, 'unsupported_media_type')
})

test('a file that cannot be taken ends the upload with its reason', async () => {
  await using wire = await openUploads(async () => {
    throw new Problem('storage_full')
  })
  const answer = await send(wire.url, form({ 'a.bin': 500_000, 'b.bin': 300_000 }))
  assert.equal((await problem(answer)).code, 'storage_full')
})

test('a client that goes after its body was refused unread, or while the handler looks elsewhere, ends nothing else', async () => {
  const looking = Promise.withResolvers<void>()
  await using wire = await openWire([
    serve(upload, async ({ request }) => {
      const { raw } = request
      looking.resolve()
      await sleep(50) // the client goes meanwhile
      return [`${raw.destroyed}`]
    }),
  ])
  await using forms = await openUploads()
  for (const [{ url }, type] of [
    [wire, 'multipart/form-data; boundary=x'],
    [forms, 'text/plain'],
  ] as const) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const head = `POST /upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer key-ada\r\nContent-Type: ${type}\r\n`
    socket.write(`${head}Content-Length: 100000\r\n\r\npart of it`)
    await (type === 'text/plain' ? once(socket, 'data') : looking.promise)
    socket.destroy()
    await sleep(100)
    assert.equal((await send(url, form({ 'a.txt': 3 }))).status, 200)
  }
})

test('an upload whose sender has gone before anybody looks at it fails instead of waiting', async () => {
  const ended = Promise.withResolvers<string>()
  const come = Promise.withResolvers<void>()
  await using wire = await openWire([
    serve(upload, async ({ request }) => {
      come.resolve()
      await sleep(100) // the client goes meanwhile
      await readFiles(request, async ({ body }) => void (await buffer(body))).then(
        () => ended.resolve('whole'),
        ({ message }: Error) => ended.resolve(message),
      )
      return []
    }),
  ])
  const socket = connect(wire.port, '127.0.0.1')
  const head = 'POST /upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer key-ada\r\n'
  const type = 'Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 100000\r\n\r\n'
  socket.write(`${head}${type}--x\r\n`)
  await come.promise
  socket.resetAndDestroy()
  assert.equal(await ended.promise, 'the client is gone')
})
