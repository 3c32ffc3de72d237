import type { AddressInfo } from 'node:net'
import websocket from '@fastify/websocket'
import { Problem } from '@parley/contract/problems'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { isAcceptable } from './answer.ts'
import { type Assets, serveAssets } from './assets.ts'
import { answerBrokenRequest } from './broken.ts'
import { type Carrier, carrier, type Pace, type Passage } from './carry.ts'
import { admit, type Asked, type Doors, keyOf, nobody } from './doors.ts'
import { idempotencyKey, type Idempotency } from './idempotency.ts'
import { type Bucket, bucketOf, type Limits, takeOne } from './limits.ts'
import { openSocket, type SocketLimits } from './open-socket.ts'
import { callRequest, cookieReader, requestId } from './passage.ts'
import { allowedMethods, fastifyPath } from './paths.ts'
import { type Log, problemBody, problemHeaders, toProblem } from './problem.ts'
import { baseHeaders, contentSecurity } from './security.ts'
import type { Served } from './serve.ts'

/*
 * The edge: everything that is true of every call is done here, once. The order of a call is: closing? address, who asks,
 * what they may, how often, what they accept; then the body is read; then `carry`.
 */

/** What became of one request. */
export interface Seen {
  request_id: string
  method: string
  /** The endpoint's path, or `none` when there is no such endpoint. */
  route: string
  status: number
  millis: number
  owner: string
  key_id: string
  ip: string
}

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
  assets?: Assets
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

declare module 'fastify' {
  interface FastifyContextConfig {
    carrier?: Carrier
    served?: Served
    bucket?: Bucket
    /** Says that a route without an endpoint needs no key. */
    open?: true
  }
  interface FastifyRequest {
    passage: Passage | null
  }
}

const longestAddress = 16 * 1024
const defaultPace: Pace = { keepAliveMs: 15_000, heartbeatMs: 10_000, stallMs: 30_000, firstElementMs: 1000 }
const defaultSockets: SocketLimits = {
  bufferBytes: 1024 * 1024,
  pingMs: 20_000,
  authMs: 10_000,
  maxMessageBytes: 1024 * 1024,
}

interface Edge {
  options: ListenOptions
  closing: AbortController
  base: Record<string, string>
  running: Set<FastifyRequest>
  pace: Pace
  sockets: SocketLimits
}

/** Serves the endpoints over HTTP. Rejects when the address is taken. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const edge: Edge = {
    options,
    closing: new AbortController(),
    base: baseHeaders(options.apiVersion ?? '1', options.baseUrl ?? ''),
    running: new Set(),
    pace: { ...defaultPace, ...options.pace },
    sockets: { ...defaultSockets, ...options.sockets },
  }
  const app = application(edge)
  await app.register(websocket, { options: { maxPayload: edge.sockets.maxMessageBytes } })
  // Two rooms, as the way a body is read hangs on the content type alone: one reads it whole, one hands it over as it comes.
  await app.register(async (whole) => {
    whole.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    for (const served of options.served.filter(({ endpoint }) => !isRaw(endpoint.accepts))) bind(whole, edge, served)
  })
  await app.register(async (raw) => {
    raw.addContentTypeParser('*', (_request, _body, done) => done(null, undefined))
    for (const served of options.served.filter(({ endpoint }) => isRaw(endpoint.accepts))) bind(raw, edge, served)
  })
  if (options.assets) await serveAssets(app, options.assets, (request) => notFound(edge, request))
  await app.listen({ host: options.host, port: options.port })
  const { port } = app.server.address() as AddressInfo
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  return { url: options.baseUrl ?? `http://${host}:${port}`, port, close: (graceMs) => close(app, edge, graceMs) }
}

const isRaw = (accepts: Served['endpoint']['accepts']) => accepts === 'bytes' || accepts === 'multipart'

function application(edge: Edge): FastifyInstance {
  const { options } = edge
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

/** The order of things before a body is read. Rejects with a Problem; a route that nobody vouches for is refused. */
async function enter(edge: Edge, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  watch(edge, request, reply)
  if (edge.closing.signal.aborted)
    throw new Problem('unavailable', 'The server is closing.', { headers: { connection: 'close' } })
  if (request.raw.url!.length > longestAddress) throw new Problem('uri_too_long')
  if (request.is404) return
  const { served, bucket, open } = request.routeOptions.config
  if (open) return
  if (!served) throw new Error(`the route ${request.url} has no endpoint`)
  const { endpoint } = served
  const { headers } = request.raw
  if (!isAcceptable(endpoint, headers.accept)) throw new Problem('not_acceptable')
  const coding = headers['content-encoding']
  if (coding !== undefined && coding !== 'identity')
    throw new Problem('unsupported_media_type', 'The body must not be encoded.')
  const cookie = cookieReader(request.raw)
  const key = keyOf(headers)
  // A client that cannot set headers on a WebSocket says who it is in its first message.
  const later = endpoint.answer === 'socket' && key === undefined && headers.cookie === undefined
  const who = later ? nobody : await admit(edge.options.doors, endpoint.access, asked(request, cookie), key)
  const passage = passageOf(edge, request, reply, { who, cookie, served })
  request.passage = passage
  if (who.kind === 'nobody') return
  passage.headers['cache-control'] = 'no-store'
  if (edge.options.limits) Object.assign(passage.headers, await takeOne(edge.options.limits, who, bucket ?? 'read'))
}

function asked(request: FastifyRequest, cookie: (name: string) => string | undefined): Omit<Asked, 'key'> {
  const { headers } = request.raw
  return {
    authorization: headers.authorization,
    accessToken: headers['x-access-token']?.toString(),
    sessionKey: headers['x-session-api-key']?.toString(),
    cookie,
    ip: request.ip,
    origin: headers.origin,
    fetchSite: headers['sec-fetch-site']?.toString(),
    method: request.method,
  }
}

interface Entered {
  who: Passage['who']
  cookie: (name: string) => string | undefined
  served: Served
}

function passageOf(
  edge: Edge,
  request: FastifyRequest,
  reply: FastifyReply,
  { who, cookie, served }: Entered,
): Passage {
  const { id, ip, raw } = request
  const key = idempotencyKey(served.endpoint, raw.headers['idempotency-key'])
  const parts = { id, ip, raw, reply: reply.raw, closing: edge.closing.signal, cookie, idempotencyKey: key }
  return {
    id,
    who,
    raw,
    request: callRequest(parts),
    reply: reply.raw,
    headers: { ...edge.base, 'x-request-id': id, 'content-security-policy': contentSecurity(served.endpoint.answer) },
    closing: edge.closing.signal,
    params: request.params,
    query: request.query as Record<string, unknown>,
    bytes: undefined,
  }
}

function watch(edge: Edge, request: FastifyRequest, reply: FastifyReply): void {
  const started = performance.now()
  edge.running.add(request)
  reply.raw.once('close', () => {
    edge.running.delete(request)
    edge.options.seen?.({
      request_id: request.id,
      method: request.method,
      route: request.routeOptions.config?.served?.endpoint.path ?? 'none',
      status: reply.raw.statusCode,
      millis: performance.now() - started,
      owner: request.passage?.who.owner ?? '',
      key_id: request.passage?.who.id ?? '',
      ip: request.ip,
    })
  })
}

function bind(app: FastifyInstance, edge: Edge, served: Served): void {
  const { endpoint } = served
  const { idempotency, log, bucket } = edge.options
  const carries = carrier(served, { idempotency, log, pace: edge.pace })
  const config = { served, carrier: carries, bucket: bucket?.(served) ?? bucketOf(endpoint) }
  const url = fastifyPath(endpoint.path)
  if (endpoint.answer === 'socket')
    return openSocket(
      app,
      { url, config, carrier: carries, served },
      { doors: edge.options.doors, log, limits: edge.sockets, asked },
    )
  const isLive = endpoint.answer === 'sse' || endpoint.answer === 'json-array'
  app.route({
    method: endpoint.method,
    url,
    config,
    bodyLimit: endpoint.bodyLimit,
    exposeHeadRoute: endpoint.method === 'GET' && !isLive,
    handler: async (request, reply) => {
      const { passage } = request
      if (!passage) throw new Error('a call came through without being looked at')
      const bytes = request.body instanceof Buffer ? request.body : undefined
      await carries.carry({ ...passage, bytes })
      if (reply.raw.headersSent) reply.hijack()
    },
  })
}

function notFound(edge: Edge, request: FastifyRequest): never {
  const allowed = allowedMethods(edge.options.served, request.url)
  if (allowed.length > 0 && !allowed.includes(request.method)) {
    throw new Problem('method_not_allowed', undefined, { headers: { allow: allowed.join(', ') } })
  }
  throw new Problem('not_found')
}

function sendProblem(edge: Edge, request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  const context = { request_id: request.id, method: request.method, route: request.routeOptions?.url }
  const problem = toProblem(error, edge.options.log, context)
  if (reply.raw.headersSent) {
    // Too late for a status: a cut connection tells the client that the answer is not whole.
    reply.hijack()
    reply.raw.destroy()
    return
  }
  const security = { 'x-request-id': request.id, 'content-security-policy': contentSecurity('json') }
  const limits = limitHeaders(request.passage?.headers)
  void reply
    .code(problem.status)
    .headers({ ...edge.base, ...security, ...limits, ...problemHeaders(problem) })
    .send(JSON.stringify(problemBody(problem, request.id)))
}

const limitHeaders = (headers: Passage['headers'] = {}) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('ratelimit')))

async function close(app: FastifyInstance, edge: Edge, graceMs: number): Promise<void> {
  edge.closing.abort(new Error('the server is closing'))
  const end = Date.now() + graceMs
  while (edge.running.size > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 20))
  await app.close()
}
