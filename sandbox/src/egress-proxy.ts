import { chmod, rm, writeFile } from 'node:fs/promises'
/*
 * The proxy behind a sandbox's socket. Who asks is known from the socket, so a request carries no identity of its own.
 * Node's HTTP parser bounds and checks what comes in; the gate decides; what goes out is built anew from the parts.
 */
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { pipeline, type Duplex } from 'node:stream'
import { connect as tlsConnect, TLSSocket } from 'node:tls'
import { passAnswer } from '@parley/wire/pass-answer'
import { passedOn } from '@parley/wire/proxy-headers'
import { type Authority, openAuthority, trustedByMachine } from './authority.ts'
import { reasonOf, refusalText, refuse, refuseTunnel } from './egress-answer.ts'
import { absolute, bare, headersFor } from './egress-headers.ts'
import type { Dial, Gate, Outgoing, Verdict } from './egress.ts'
import { trustFiles } from './inside.ts'
import { filledHeaders, filledPath } from './placeholders.ts'

export type EgressLog = (line: string) => void

/** The way out of one sandbox, wherever its connections come from. */
export interface Way {
  /** Certificates by which the sandbox trusts it, PEM: alone, and beside those that all trust. */
  trust: { own: string; all: string }
  take(connection: Duplex): void
  /** Every connection on it ends. */
  close(): Promise<void>
}

export interface EgressProxy {
  open(sandboxId: string): Way
  /** Listens for one sandbox (`whose`: its id, asked at each request), which finds beside the socket whom to trust (`trustFiles`). Resolves with what closes the socket and every connection on it. */
  listen(whose: () => string, socketPath: string): Promise<() => Promise<void>>
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

/** The way out of one sandbox. */
interface Line extends Parts {
  /** The id of the sandbox. */
  whose: () => string
  authority: Authority
}

export function egressProxy(parts: Parts): EgressProxy {
  const all = new Set<() => Promise<void>>()
  const begin = (whose: () => string) => {
    const authority = openAuthority('Parley, for one sandbox')
    const server = serverFor({ ...parts, whose, authority })
    const close = closer(server, () => all.delete(close))
    all.add(close)
    const trust = { own: authority.certificate, all: `${trustedByMachine()}\n${authority.certificate}` }
    return { server, trust, close }
  }
  return {
    open(sandboxId) {
      const { server, trust, close } = begin(() => sandboxId)
      return { trust, close, take: (connection) => void server.emit('connection', connection) }
    },
    async listen(whose, socketPath) {
      const { server, trust, close } = begin(whose)
      for (const which of ['own', 'all'] as const)
        await writeFile(join(dirname(socketPath), trustFiles[which]), trust[which], { mode: 0o644 })
      await rm(socketPath, { force: true })
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socketPath, resolve))
      await chmod(socketPath, 0o666) // the folder above it keeps others out
      return close
    },
    async close() {
      await Promise.all([...all].map((close) => close()))
    },
  }
}

/** Servers of one sandbox: the proxy itself, and what is behind the tunnels that are opened. */
function serverFor(line: Line): Server {
  const targets = new WeakMap<object, string>()
  const opened = bounded(line)
  opened.on('request', (request, response) => void forward(line, request, response, targets.get(request.socket)))
  const server = bounded(line)
  server.maxConnections = maxConnections
  server.on('request', (request, response) => void forward(line, request, response))
  server.on(
    'connect',
    (request, socket, head) =>
      void tunnel(line, request, socket, head, (secure, target) => {
        targets.set(secure, target)
        opened.emit('connection', secure)
      }),
  )
  return server
}

function bounded({ idleMs }: Line): Server {
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: 30_000,
    requestTimeout: 0,
    requireHostHeader: false,
  })
  server.timeout = idleMs ?? defaultIdleMs
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

/** @param target Where the tunnel leads that the request came in; none: the request says it. */
async function forward(line: Line, request: IncomingMessage, response: ServerResponse, target = ''): Promise<void> {
  const url = absolute(`${target}${request.url}`)
  if (url === undefined) return refuse(response, 400, 'this is a proxy: ask for a whole URL such as http://host/path')
  const out: Outgoing = {
    sandboxId: line.whose(),
    scheme: url.protocol === 'https:' ? 'https' : 'http',
    host: bare(url.hostname),
    port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
    method: request.method ?? 'GET',
    path: `${url.pathname}${url.search}`,
  }
  const verdict = await decide(line, out)
  if (!verdict.allow) return refuse(response, 403, refusalText(out, verdict.reason))
  const scheme = verdict.scheme ?? out.scheme
  // A plain request for the plain port, upgraded, means the encrypted one.
  const port = scheme === 'https' && out.scheme === 'http' && url.port === '' ? 443 : out.port
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  try {
    const put = verdict.put ?? []
    const headers = filledHeaders(headersFor(request, url, verdict.headers), put)
    const onward = { ...out, scheme, port, path: filledPath(out.path ?? '/', put) }
    const socket = await dial(line, onward, gone.signal)
    send(request, response, socket, onward, headers, line.idleMs ?? defaultIdleMs)
  } catch (error) {
    line.log(`egress ${line.whose()}: ${out.host}:${port}: ${String(error)}`)
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
  passAnswer(upstream, response, {
    headers: passedOn,
    noHttp: () => refuse(response, 502, `${out.host}:${out.port} answered with what is not HTTP`),
    over: () => socket.destroy(),
  })
  upstream.on('error', (error) => {
    if (response.headersSent) response.destroy()
    else refuse(response, 502, `${out.host}:${out.port} broke off: ${reasonOf(error)}`)
  })
  response.on('close', () => socket.destroy())
  pipeline(request, upstream, () => undefined)
}

type Opened = (secure: TLSSocket, target: string) => void

async function tunnel(line: Line, request: IncomingMessage, client: Duplex, head: Buffer, opened: Opened) {
  client.on('error', () => client.destroy())
  const target = absolute(`http://${request.url ?? ''}`)
  const port = Number(/:(\d{1,5})$/.exec(request.url ?? '')?.[1])
  if (target === undefined || !(port > 0 && port < 65_536)) return refuseTunnel(client, 400, 'CONNECT needs host:port')
  const sandboxId = line.whose()
  const out: Outgoing = { sandboxId, scheme: 'https', host: bare(target.hostname), port, method: null, path: null }
  const verdict = await decide(line, out)
  if (!verdict.allow) return refuseTunnel(client, 403, refusalText(out, verdict.reason))
  if (verdict.put !== undefined) return openTunnel(line, out, client, head, opened)
  const gone = new AbortController()
  client.on('close', () => gone.abort())
  try {
    const upstream = await dial(line, { ...out, scheme: 'http' }, gone.signal)
    upstream.setTimeout(line.idleMs ?? defaultIdleMs, () => upstream.destroy())
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    upstream.write(head)
    pipeline(client, upstream, () => upstream.destroy())
    pipeline(upstream, client, () => client.destroy())
  } catch (error) {
    line.log(`egress ${sandboxId}: ${out.host}:${port}: ${String(error)}`)
    refuseTunnel(client, 502, `${out.host}:${port} could not be reached: ${reasonOf(error)}`)
  }
}

/** The encryption ends here and begins anew towards the host, whose certificate is checked as ever. */
function openTunnel({ authority }: Line, { host, port }: Outgoing, client: Duplex, head: Buffer, opened: Opened): void {
  client.write('HTTP/1.1 200 Connection established\r\n\r\n')
  if (head.length > 0) client.unshift(head)
  const secureContext = authority.contextFor(host)
  const secure = new TLSSocket(client, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
  secure.on('error', () => client.destroy()) // a client that does not trust us, above all
  client.on('close', () => secure.destroy())
  opened(secure, `https://${host.includes(':') ? `[${host}]` : host}:${port}`)
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
    secure.on('error', fail).once('secureConnect', () => resolve(secure))
  })
}
