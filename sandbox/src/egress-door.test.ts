import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { openDoor } from './egress-door.ts'

/** What is answered to a connection that says these words, as far as `until` goes. */
async function asked(port: number, words: string, until: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(words)
  let heard = ''
  for await (const part of socket) if ((heard += String(part)).includes(until)) break
  return heard
}

const said = (who: string) =>
  `CONNECT sandbox:1 HTTP/1.0\r\nProxy-Authorization: Basic ${Buffer.from(who).toString('base64')}\r\n\r\n`

test('who says the word of a sandbox is that sandbox; nobody else comes in, and nobody with the word of one that is gone', async (t) => {
  const door = await openDoor('127.0.0.1', 0)
  t.after(() => door.close())
  const came: string[] = []
  const take = (name: string) => (connection: Duplex) => (came.push(name), void connection.end('welcome'))
  const [ada, bob] = [door.admit('ada', take('ada')), door.admit('bob', take('bob'))]
  assert.match(await asked(door.port, said(`ada:${ada}`), 'welcome'), /^HTTP\/1\.1 200 [^]*welcome$/)
  for (const wrong of [`ada:${bob}`, `ada:${ada}x`, 'ada:', ':', `eve:${ada}`])
    assert.match(await asked(door.port, said(wrong), '\r\n\r\n'), /^HTTP\/1\.1 407 /, wrong)
  assert.match(await asked(door.port, 'CONNECT sandbox:1 HTTP/1.0\r\n\r\n', '\r\n\r\n'), /^HTTP\/1\.1 407 /)
  assert.match(await asked(door.port, 'GET / HTTP/1.0\r\n\r\n', '\r\n\r\n'), /^HTTP\/1\.1 404 /)
  door.dismiss('ada')
  assert.match(await asked(door.port, said(`ada:${ada}`), '\r\n\r\n'), /^HTTP\/1\.1 407 /)
  assert.deepEqual(came, ['ada'])
  const idle = connect(door.port, '127.0.0.1')
  await once(idle, 'connect')
  const ended = once(idle, 'close')
  await door.close()
  await ended
})
