import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Duplex, pipeline } from 'node:stream'
import { passAnswer } from './pass-answer.ts'

/*
 * A reverse proxy over byte streams that somebody else opens: requests with their bodies and answers as they come, and
 * upgraded connections (WebSocket). What headers say on either side is the caller's choice.
 */

/** Where a request goes: a key (one upstream has one key, such as an id) and a port there. */
export interface Target {
  key: string
  port: number
}

/** A byte stream to a target. Rejects when nothing listens there. */
export type Connect = (target: Target) => Promise<Duplex>

/** One request as it is to be sent on. Headers are names and values in turn. */
export interface Onward {
  target: Target
  path: string
  headers: string[]
  /** Headers of the answer from the upstream's own (names and values in turn). */
  answer: (raw: readonly string[]) => string[]
  /** Says to the client that nothing good came, before any byte of an answer has. */
  failed: (error: Error) => { status: number; text: string }
}

export interface Forwarder {
  request(request: IncomingMessage, response: ServerResponse, onward: Onward): void
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, onward: Onward): void
  close(): void
}

/** Connections that wait for the next request are few and short-lived: servers close theirs after 5 s. */
const keptMs = 4_000
const most = 24

export function forwarder(connect: Connect): Forwarder {
  const agent = new StreamAgent(connect)
  const send = (request: IncomingMessage, { target, path, headers }: Onward): ClientRequest =>
    httpRequest({
      agent,
      host: target.key,
      port: target.port,
      method: request.method ?? 'GET',
      path,
      headers,
      setHost: false,
    })
  return {
    request(request, response, onward) {
      const hasBody = request.headers['content-length'] !== undefined || 'transfer-encoding' in request.headers
      const upstream = send(request, onward)
      passAnswer(upstream, response, {
        headers: onward.answer,
        noHttp: () => refuse(response, onward.failed(new Error('the answer is not HTTP'))),
        over: (error) => void (error && response.destroy()),
      })
      upstream.on('error', (error) => {
        // A kept connection that its server has just closed: the request never got there.
        const again = upstream.reusedSocket && !hasBody && !response.headersSent && !response.destroyed
        if (again) return this.request(request, response, onward)
        refuse(response, onward.failed(error))
      })
      response.on('close', () => void (response.writableFinished || upstream.destroy()))
      if (hasBody) pipeline(request, upstream, () => undefined)
      else upstream.end()
    },
    upgrade(request, socket, head, onward) {
      const upstream = send(request, onward)
      socket.on('error', () => upstream.destroy())
      socket.on('close', () => upstream.destroy())
      upstream.on('upgrade', (answer, other, rest) => {
        socket.write(
          headText(answer, [
            'Connection',
            'Upgrade',
            'Upgrade',
            answer.headers.upgrade ?? '',
            ...onward.answer(answer.rawHeaders),
          ]),
        )
        if (rest.length > 0) socket.write(rest)
        if (head.length > 0) other.write(head)
        other.on('error', () => socket.destroy()).on('close', () => socket.destroy())
        socket.pipe(other).pipe(socket)
      })
      upstream.on('response', (answer) => {
        socket.write(headText(answer, [...onward.answer(answer.rawHeaders), 'Connection', 'close']))
        pipeline(answer, socket, () => socket.destroy())
      })
      upstream.on('error', (error) => {
        const { status, text } = onward.failed(error)
        socket.end(
          `HTTP/1.1 ${status} Refused\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${text}\n`,
        )
      })
      upstream.end()
    },
    close: () => agent.destroy(),
  }
}

function headText({ statusCode, statusMessage }: IncomingMessage, headers: readonly string[]): string {
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${headers[at + 1]}\r\n`] : []))
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('')}\r\n`
}

/** An answer of our own in plain words. */
export function refuse(response: ServerResponse, { status, text }: { status: number; text: string }): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const body = `${text}\n`
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
}

/** Node's agent, on streams that are no sockets. */
class StreamAgent extends Agent {
  readonly #connect: Connect

  constructor(connect: Connect) {
    super({ keepAlive: true, maxSockets: most, maxFreeSockets: 4, timeout: keptMs })
    this.#connect = connect
  }

  override createConnection(
    { host, port }: { host?: string | null | undefined; port?: number | string | null | undefined },
    done: (error: Error | null, stream: Duplex) => void,
  ): null {
    void this.#open({ key: host ?? '', port: Number(port) }, done)
    return null
  }

  async #open(target: Target, done: (error: Error | null, stream: Duplex) => void): Promise<void> {
    try {
      done(null, asSocket(await this.#connect(target)))
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)), undefined as never)
    }
  }
}

/** What the agent asks of a socket beyond a stream: while it is kept unused, a time after which it is let go. */
function asSocket(stream: Duplex): Duplex {
  let timer: NodeJS.Timeout | undefined
  stream.on('close', () => clearTimeout(timer))
  const same = () => stream as Socket
  return Object.assign(stream, {
    setKeepAlive: same,
    setNoDelay: same,
    ref: same,
    unref: same,
    setTimeout(ms: number) {
      clearTimeout(timer)
      if (ms > 0) timer = setTimeout(() => stream.emit('timeout'), ms).unref()
      return same()
    },
  })
}
