import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { openDatabase } from './database.ts'
import { isUnavailable } from './failure.ts'

/** A message of PostgreSQL's wire protocol, version 3: a letter, the length with itself, the body. */
function message(letter: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + body.length)
  return Buffer.concat([Buffer.from(letter), length, body])
}

const authenticated = message('R', Buffer.alloc(4))
const ready = message('Z', Buffer.from('I'))
const ended = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0'))

test('a connection that ends in the moment it begins is told as unavailable, and is the end of nothing else', async () => {
  const server = createServer((socket) =>
    socket.on('error', () => {}).once('data', () => socket.end(Buffer.concat([authenticated, ready, ended]))),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connection = `postgres://parley@127.0.0.1:${port}/postgres`
  const database = openDatabase({ connection, max: 2, applicationName: 'test' })
  const told = await Promise.all([1, 2, 3].map(() => database.ping().catch(isUnavailable)))
  assert.deepEqual(told, [true, true, true])
  await database.close()
  server.close()
})
