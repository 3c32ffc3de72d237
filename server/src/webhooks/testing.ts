import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** One call as the receiver got it. */
export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
}

export interface Receiver extends AsyncDisposable {
  url: string
  host: string
  calls: Received[]
  /** How it answers from now on; `silence` never does. */
  answer: { status: number; headers?: Record<string, string> } | 'silence'
}

/** An address on loopback that can be called. */
export async function openReceiver(): Promise<Receiver> {
  const calls: Received[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      calls.push({ path: request.url ?? '', headers: request.headers, body })
      if (receiver.answer === 'silence') return
      response.writeHead(receiver.answer.status, receiver.answer.headers).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const receiver: Receiver = {
    url: `http://${host}`,
    host,
    calls,
    answer: { status: 204 },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}

/** What `look` gives as soon as it gives something. */
export async function soon<T>(what: string, look: () => Promise<T | undefined | false> | T | undefined | false) {
  for (let tries = 0; tries < 500; tries += 1) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    await new Promise((resolve) => setTimeout(resolve, 40))
  }
  throw new Error(`It did not happen: ${what}`)
}
