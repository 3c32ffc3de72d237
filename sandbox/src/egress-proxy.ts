import { chmod, rm } from 'node:fs/promises'
/*
 * The proxy behind a sandbox's socket. Who asks is known from the socket, so a request carries no identity of its own.
 * Node's HTTP parser bounds and checks what comes in; the gate decides; what goes out is built anew from the parts.
 */
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline, type Duplex } from 'node:stream'
import { connect as tlsConnect } from 'node:tls'
import { passedOn } from '@parley/wire/proxy-headers'
import { absolute, bare, headersFor } from './egress-headers.ts'
import type { Dial, Gate, Outgoing, Verdict } from './egress.ts'

export type EgressLog = (line: string) => void

export interface EgressProxy {
  /** Listens for one sandbox. Resolves with what closes the socket and every connection on it. */
  listen(sandboxId: string, socketPath: string): Promise<() => Promise<void>>
  close(): Promise<void>
}

const dialMs = 10_000
const defaultIdleMs = 5 * 60_000
const maxConnections = 200
const maxHeaderBytes = 32 * 1024

interface Parts {
  gate: Gate
  dial: Dial
  log: EgressLog
  /** Certificates trusted for upstream TLS, beside the system's. Only tests need it. */
  ca?: string
  /** A connection on which nothing moves for so long is closed. 5 minutes unless said. */
  idleMs?: number
}

export function egressProxy(parts: Parts): EgressProxy {
  const open = new Set<() => Promise<void>>()
  return {
    async listen(sandboxId, socketPath) {
      const server = serverFor(parts, sandboxId)
      await rm(socketPath, { force: true })
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socketPath, resolve))
      await chmod(socketPath, 0o666) // the folder above it keeps others out
      const close = closer(server, () => open.delete(close))
      open.add(close)
      return close
    },
    async close() {
      await Promise.all([...open].map((close) => close()))
    },
  }
}

function serverFor(parts: Parts, sandboxId: string): Server {
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: 30_000,
    requestTimeout: 0,
    requireHostHeader: false,
  })
  server.maxConnections = maxConnections
  server.timeout = parts.idleMs ?? defaultIdleMs
  server.on('request', (request, response) => void forward(parts, sandboxId, request, response))
  server.on('connect', (request, socket, head) => void tunnel(parts, sandboxId, request, socket, head))
  server.on('clientError', (_, socket) => void socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'))
  return server
}

function closer(server: Server, forget: () => void): () => Promise<void> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  return async () => {
    forget()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }
}

async function forward(
  parts: Parts,
  sandboxId: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = absolute(request.url)
  if (url === undefined) return refuse(response, 400, 'this is a proxy: ask for a whole URL such as http://host/path')
  const out: Outgoing = {
    sandboxId,
    scheme: url.protocol === 'https:' ? 'https' : 'http',
    host: bare(url.hostname),
    port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
    method: request.method ?? 'GET',
    path: `${url.pathname}${url.search}`,
  }
  const verdict = await decide(parts, out)
  if (!verdict.allow) return refuse(response, 403, refusalText(out, verdict.reason))
  const scheme = verdict.scheme ?? out.scheme
  // A plain request for the plain port, upgraded, means the encrypted one.
  const port = scheme === 'https' && out.scheme === 'http' && url.port === '' ? 443 : out.port
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  try {
    const socket = await dial(parts, { ...out, scheme, port }, gone.signal)
    send(
      request,
      response,
      socket,
      { ...out, scheme, port },
      headersFor(request, url, verdict.headers),
      parts.idleMs ?? defaultIdleMs,
    )
  } catch (error) {
    parts.log(`egress ${sandboxId}: ${out.host}:${port}: ${String(error)}`)
    refuse(response, 502, `${out.host}:${port} could not be reached: ${reasonOf(error)}`)
  }
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  socket: Socket,
  out: Outgoing,
  headers: string[],
  timeout: number,
): void {
  const upstream = httpRequest({
    createConnection: () => socket,
    ...(out.method !== null && { method: out.method }),
    ...(out.path !== null && { path: out.path }),
    headers,
    setHost: false,
    timeout,
  })
  upstream.on('timeout', () => upstream.destroy(new Error('idle for too long')))
  upstream.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedOn(answer.rawHeaders))
    pipeline(answer, response, () => socket.destroy())
  })
  upstream.on('error', (error) => {
    if (response.headersSent) response.destroy()
    else refuse(response, 502, `${out.host}:${out.port} broke off: ${reasonOf(error)}`)
  })
  response.on('close', () => socket.destroy())
  pipeline(request, upstream, () => undefined)
}

async function tunnel(parts: Parts, sandboxId: string, request: IncomingMessage, client: Duplex, head: Buffer) {
  client.on('error', () => client.destroy())
  const target = absolute(`http://${request.url ?? ''}`)
  const port = Number(/:(\d{1,5})$/.exec(request.url ?? '')?.[1])
  if (target === undefined || !(port > 0 && port < 65_536)) return refuseTunnel(client, 400, 'CONNECT needs host:port')
  const out: Outgoing = { sandboxId, scheme: 'https', host: bare(target.hostname), port, method: null, path: null }
  const verdict = await decide(parts, out)
  if (!verdict.allow) return refuseTunnel(client, 403, refusalText(out, verdict.reason))
  const gone = new AbortController()
  client.on('close', () => gone.abort())
  try {
    const upstream = await dial(parts, { ...out, scheme: 'http' }, gone.signal)
    upstream.setTimeout(parts.idleMs ?? defaultIdleMs, () => upstream.destroy())
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    upstream.write(head)
    pipeline(client, upstream, () => upstream.destroy())
    pipeline(upstream, client, () => client.destroy())
  } catch (error) {
    parts.log(`egress ${sandboxId}: ${out.host}:${port}: ${String(error)}`)
    refuseTunnel(client, 502, `${out.host}:${port} could not be reached: ${reasonOf(error)}`)
  }
}

async function decide({ gate, log }: Parts, out: Outgoing): Promise<Verdict> {
  try {
    return await gate.decide(out)
  } catch (error) {
    log(`egress ${out.sandboxId}: the gate failed for ${out.host}: ${String(error)}`)
    return { allow: false, reason: 'the policy could not be read' }
  }
}

/** A connection to the host, encrypted when the scheme says so. */
async function dial(parts: Parts, { host, port, scheme }: Outgoing, signal: AbortSignal): Promise<Socket> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(dialMs)])
  const socket = await parts.dial(host, port, limit)
  socket.on('error', () => undefined)
  if (limit.aborted) socket.destroy()
  limit.throwIfAborted()
  if (scheme === 'http') return socket
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => (socket.destroy(), reject(error))
    const secure = tlsConnect({
      socket,
      servername: /^[\d.]+$|:/.test(host) ? '' : host,
      ...(parts.ca && { ca: parts.ca }),
    })
    limit.addEventListener('abort', () => fail(limit.reason as Error), { once: true })
    secure.once('error', fail).once('secureConnect', () => resolve(secure))
  })
}

const refusalText = ({ host, port }: Outgoing, reason: string) =>
  `Parley does not let this sandbox reach ${host}:${port}: ${reason}`
const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

function refuse(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const body = `${text}\n`
  const mark = status === 403 ? { 'X-Parley-Egress': 'refused' } : {}
  const type = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }
  response.writeHead(status, { ...type, ...mark }).end(body)
}

function refuseTunnel(client: Duplex, status: number, text: string): void {
  const body = `${text}\n`
  const mark = status === 403 ? 'X-Parley-Egress: refused\r\n' : ''
  const type = `Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n`
  const title = { 400: 'Bad Request', 403: 'Forbidden', 502: 'Bad Gateway' }[status] ?? 'Error'
  client.end(`HTTP/1.1 ${status} ${title}\r\n${mark}${type}\r\n${body}`)
}
