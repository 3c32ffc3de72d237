import type { AddressInfo } from 'node:net'
import websocket from '@fastify/websocket'
import fastify, { type FastifyInstance } from 'fastify'
import { type Assets, serveAssets } from './assets.ts'
import { answerBrokenRequest } from './broken.ts'
import { carrier, type Pace } from './carry.ts'
import { type Divert, divertFrom } from './divert.ts'
import type { Doors } from './doors.ts'
import { type Edge, enter, longestAddress, notFound, type Seen, sendProblem } from './edge.ts'
import type { Idempotency } from './idempotency.ts'
import { type Bucket, bucketOf, type Limits } from './limits.ts'
import { openSocket, type SocketLimits } from './open-socket.ts'
import { requestId } from './passage.ts'
import { fastifyPath } from './paths.ts'
import type { Log } from './problem.ts'
import { baseHeaders } from './security.ts'
import type { Served } from './serve.ts'

/*
 * Endpoints on a port: builds the HTTP server, binds every endpoint to it, and ends it without losing an answer.
 */

export interface ListenOptions {
  served: readonly Served[]
  doors: Doors
  host: string
  /** 0: any free port. */
  port: number
  log: Log
  /** As the world sees it, without a slash at the end; by default the address that is listened on. */
  baseUrl?: string
  apiVersion?: string
  limits?: Limits
  /** Names the bucket of an endpoint that is not simply `read`, `write` or `control`. */
  bucket?: (served: Served) => Bucket | undefined
  idempotency?: Idempotency
  /** Runs a call that is `atOnce` in one transaction with the keeping of its answer. */
  atOnce?: <R>(work: () => Promise<R>) => Promise<R>
  assets?: Assets
  /** What it takes is its own from the first byte: no door, no limit, no header of ours. */
  divert?: Divert
  /** Addresses or CIDRs of proxies whose `X-Forwarded-For` is believed. */
  trustedProxies?: string[]
  /** Called when an answer is done, with what it was. Must not throw. */
  seen?: (seen: Seen) => void
  requestTimeoutMs?: number
  pace?: Partial<Pace>
  sockets?: Partial<SocketLimits>
}

export interface Listening {
  readonly url: string
  readonly port: number
  /** Turns new calls away, ends live streams, waits for the others up to `graceMs`, then cuts. */
  close(graceMs: number): Promise<void>
}

const defaultPace: Pace = { keepAliveMs: 15_000, heartbeatMs: 10_000, stallMs: 30_000, firstElementMs: 1000 }
const defaultSockets: SocketLimits = {
  bufferBytes: 1024 * 1024,
  pingMs: 20_000,
  authMs: 10_000,
  maxMessageBytes: 1024 * 1024,
}

/** Serves the endpoints over HTTP. Rejects when the address is taken. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const edge: Edge = {
    served: options.served,
    doors: options.doors,
    log: options.log,
    limits: options.limits,
    seen: options.seen,
    closing: new AbortController(),
    base: baseHeaders(options.apiVersion ?? '1', options.baseUrl ?? ''),
    running: new Set(),
  }
  const app = application(edge, options)
  const sockets = { ...defaultSockets, ...options.sockets }
  // The library asks of the server that it says `upgrade`, and nothing else.
  const server = divertFrom(app.server, options.divert) as typeof app.server
  await app.register(websocket, { options: { maxPayload: sockets.maxMessageBytes, server } })
  // Two rooms, as the way a body is read hangs on the content type alone: one reads it whole, one hands it over as it comes.
  await app.register(async (whole) => {
    whole.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    for (const served of options.served.filter(({ endpoint }) => !isRaw(endpoint.accepts))) {
      if (served.endpoint.answer === 'socket') openSocket(whole, served, { edge, limits: sockets })
      else bind(whole, served, options)
    }
  })
  await app.register(async (raw) => {
    raw.addContentTypeParser('*', (_request, _body, done) => done(null, undefined))
    for (const served of options.served.filter(({ endpoint }) => isRaw(endpoint.accepts))) bind(raw, served, options)
  })
  if (options.assets) await serveAssets(app, options.assets, (request) => notFound(edge, request))
  await app.listen({ host: options.host, port: options.port })
  const { port } = app.server.address() as AddressInfo
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  return { url: options.baseUrl ?? `http://${host}:${port}`, port, close: (graceMs) => close(app, edge, graceMs) }
}

const isRaw = (accepts: Served['endpoint']['accepts']) => accepts === 'bytes' || accepts === 'multipart'

function application(edge: Edge, options: ListenOptions): FastifyInstance {
  const requestTimeout = options.requestTimeoutMs ?? 120_000
  const app = fastify({
    logger: false,
    genReqId: requestId,
    trustProxy: options.trustedProxies ?? false,
    requestTimeout,
    // An answer may be silent for as long as its own deadline; this cuts sockets on which nothing happens at all.
    connectionTimeout: requestTimeout + 30_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: true,
    return503OnClosing: false,
    routerOptions: { maxParamLength: longestAddress },
    http: {
      maxHeaderSize: 2 * longestAddress,
      headersTimeout: Math.min(30_000, requestTimeout),
      connectionsCheckingInterval: Math.min(5000, requestTimeout),
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error as Error, socket, edge.base),
    frameworkErrors: (error, request, reply) => sendProblem(edge, request, reply, error),
  })
  app.removeAllContentTypeParsers()
  app.decorateRequest('passage', null)
  app.addHook('onRequest', (request, reply) => enter(edge, request, reply))
  app.setErrorHandler((error, request, reply) => sendProblem(edge, request, reply, error))
  app.setNotFoundHandler((request) => notFound(edge, request))
  return app
}

function bind(app: FastifyInstance, served: Served, options: ListenOptions): void {
  const { endpoint } = served
  const pace = { ...defaultPace, ...options.pace }
  const { idempotency, log, atOnce = (work) => work() } = options
  const { carry } = carrier(served, { idempotency, atOnce, log, pace })
  const isLive = endpoint.answer === 'sse' || endpoint.answer === 'json-array'
  app.route({
    method: endpoint.method,
    url: fastifyPath(endpoint.path),
    config: { served, bucket: options.bucket?.(served) ?? bucketOf(endpoint) },
    bodyLimit: endpoint.bodyLimit,
    exposeHeadRoute: endpoint.method === 'GET' && !isLive,
    handler: async (request, reply) => {
      const { passage } = request
      if (!passage) throw new Error('a call came through without being looked at')
      await carry(passage, request.body instanceof Buffer ? request.body : undefined)
      if (reply.raw.headersSent) reply.hijack()
    },
  })
}

/** New calls get 503, live streams end, the others have `graceMs` to finish. */
async function close(app: FastifyInstance, edge: Edge, graceMs: number): Promise<void> {
  edge.closing.abort(new Error('the server is closing'))
  const end = Date.now() + graceMs
  while (edge.running.size > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20))
  await app.close()
}
