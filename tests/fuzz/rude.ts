import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { api } from '@parley/contract/api'
import fc from 'fast-check'
import { openTestServer } from '../../server/src/testing.ts'
import { says } from '../tools/house.ts'
import { type Document, type Operation, operations } from './document.ts'
import { requestOf } from './fuzz.ts'
import type { Pool } from './values.ts'

/*
 * Clients without manners: requests for every operation, streams, sockets and uploads too, that are cut, broken or left at
 * any moment. None may end the process, and afterwards everybody else is served as ever. An error that nobody hears is
 * the caller's to notice: it is an uncaught exception of this process.
 */

const document = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../docs/openapi/v1.json'), 'utf8'),
) as Document
const atOnce = 8
const limitsFile = resolve(import.meta.dirname, 'limits.yaml')
const form = [
  '--x',
  'Content-Disposition: form-data; name="file"; filename="a.txt"',
  '',
  'some text',
  '--x--',
  '',
].join('\r\n')

interface Rude {
  head: string
  body: string
}

/** What becomes of a request; `at` is from 0 to 1. */
const faults: Record<string, (socket: Socket, request: Rude, at: number) => Promise<void>> = {
  'cut anywhere': async (socket, { head, body }, at) => {
    const text = head + body
    socket.write(text.slice(0, Math.ceil(text.length * at)))
    await sleep(at * 30)
    socket.resetAndDestroy()
  },
  'left at once': async (socket, { head, body }) => {
    socket.write(head + body, () => socket.resetAndDestroy())
  },
  'left at the first byte of the answer': async (socket, { head, body }) => {
    socket.write(head + body)
    await answered(socket)
    socket.resetAndDestroy()
  },
  'ended before the answer': async (socket, { head, body }) => {
    socket.end(head + body)
    await answered(socket)
    socket.destroy()
  },
  'less than was announced': async (socket, { head, body }, at) => {
    socket.write(head.replace(/content-length: \d+/, 'content-length: 90000') + body)
    await sleep(at * 60)
    socket.destroy()
  },
  'broken chunks': async (socket, { head, body }, at) => {
    const size = body.length.toString(16)
    socket.write(`${head.replace(/content-length: \d+/, 'transfer-encoding: chunked')}${size}\r\n${body}\r\n`)
    await sleep(at * 20)
    socket.write('nonsense\r\n')
    await answered(socket)
    socket.destroy()
  },
  'changed bytes': async (socket, { head, body }, at) => {
    const bytes = Buffer.from(head + body)
    for (let n = 0; n < 4; n += 1) bytes[Math.floor(bytes.length * ((at * (n + 1) * 7) % 1))] = Math.floor(at * 255)
    socket.write(bytes)
    await answered(socket)
    socket.destroy()
  },
  'an upgrade that nobody offers': async (socket, { head, body }, at) => {
    const upgrade =
      'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
    socket.write(head.replace('\r\n', `\r\n${upgrade}`) + body)
    await answered(socket)
    // A frame, whole or not, that says nothing that makes sense.
    socket.write(Buffer.from([0x81 + Math.floor(at * 126), 0x80 + Math.floor(at * 127), 1, 2, 3, 4, 9, 9]))
    await sleep(at * 20)
    socket.resetAndDestroy()
  },
  'one after the other without waiting': async (socket, { head, body }, at) => {
    socket.write((head + body).repeat(3))
    await sleep(at * 40)
    socket.resetAndDestroy()
  },
}

/** Resolves with the first byte, with the end, or when nothing comes. */
const answered = (socket: Socket): Promise<unknown> =>
  Promise.race([
    new Promise((done) => socket.once('data', done).once('close', done)),
    sleep(300, undefined, { ref: false }),
  ])

export interface RudeReport {
  seed: number
  requests: number
  /** How often somebody got at least the begin of an answer. */
  answers: number
}

export async function rude({ requests, seed }: { requests: number; seed: number }): Promise<RudeReport> {
  await using server = await openTestServer({ env: { PARLEY_LIMITS: limitsFile } })
  const ada = await server.as('ada')
  const key = await server.keyOf('ada')
  const { id } = await ada(api.conversations.start, { body: says('Hello.') })
  const pool: Pool = { ids: [id], wild: false, schemas: document.components.schemas }
  const all = operations(document).filter((one) => !/keys|users\/me|session/.test(one.path) || one.method === 'GET')
  const port = Number(new URL(server.url).port)
  const one = fc.record({
    operation: fc.oneof(
      fc.constantFrom(...all),
      fc.constantFrom(...all.filter((known) => !known.json || isForm(known))),
    ),
    fault: fc.constantFrom(...Object.values(faults)),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  const report: RudeReport = { seed, requests: 0, answers: 0 }
  let n = 0
  const client = async () => {
    while (n < requests) {
      const turn = (n += 1)
      const [{ operation, fault, at } = assert.fail()] = fc.sample(one, { seed: seed + turn, numRuns: 1 })
      const [{ url, body } = assert.fail()] = fc.sample(requestOf(operation, pool), { seed: seed + turn, numRuns: 1 })
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined).once('data', () => (report.answers += 1))
      await fault(socket, rudeOf(operation, url, body, key, at), at)
      report.requests += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, client))
  const { items } = await ada(api.conversations.search, {})
  assert.ok(Array.isArray(items))
  return report
}

const isForm = ({ path }: Operation) => path.endsWith('/upload')

function rudeOf(operation: Operation, url: string, body: string | undefined, key: string, at: number): Rude {
  const bare = operation.method === 'GET' || operation.method === 'DELETE' ? '' : '{}'
  const sent = isForm(operation) ? form : (body ?? bare)
  const type = isForm(operation) && at > 0.3 ? 'multipart/form-data; boundary=x' : 'application/json'
  const length = Buffer.byteLength(sent)
  const fields = ['host: x', `authorization: Bearer ${key}`, `content-type: ${type}`, `content-length: ${length}`]
  return { head: `${operation.method} ${url} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`, body: sent }
}
