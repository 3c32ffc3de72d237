import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { oddAnswers } from './odd-answers.fixture.ts'
import { outbound } from './outbound.ts'

/** Answers each request, by its path, with these very bytes. */
async function rawServer(answer: (path: string) => string) {
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (data) => socket.end(answer(data.toString().split(' ')[1] ?? ''), 'latin1'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}

test('an answer that is not HTTP is told of in a sentence, whatever the library calls it', async () => {
  const odd: [path: string, said: string | null][] = [
    ['/status', 'the answer is not HTTP'],
    ['/header', 'the answer is not HTTP (Invalid header value char)'],
    ['/length', 'the answer is not HTTP (Invalid character in Content-Length)'],
    ['/early', 'the answer is not HTTP'],
    ['/switch', 'the answer is not HTTP'],
    ['/greeting', 'the answer is not HTTP (Expected HTTP/, RTSP/ or ICE/)'],
    ['/teapot', 'the answer has the status 999, which HTTP does not know'],
    ['/word', null],
    ['/trailer', null],
  ]
  const further: Record<string, string> = {
    '/greeting': 'SSH-2.0-OpenSSH_9.9\r\n',
    '/teapot': 'HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nhi',
  }
  assert.deepEqual(odd.map(([path]) => path).sort(), Object.keys({ ...oddAnswers, ...further }).sort())
  await using server = await rawServer((path) => ({ ...oddAnswers, ...further })[path] ?? '')
  const out = outbound({ privateHosts: [server.host] })
  for (const [path, message] of odd) {
    const asked = out.fetch(`http://${server.host}${path}`).then((answer) => answer.text())
    if (message === null) assert.equal(await asked, 'hi', path)
    else await assert.rejects(asked, { name: 'OutboundRefused', reason: 'not_http', message }, path)
  }
  await out.close()
})
