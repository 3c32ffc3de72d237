import type { ServerResponse } from 'node:http'
import type { Who } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isAcceptable, sendText } from './answer.ts'
import type { Passage } from './carry.ts'
import { admit, type Asked, type Doors, keyOf, nobody } from './doors.ts'
import { idempotencyKey } from './idempotency.ts'
import { type Bucket, type Limits, takeOne } from './limits.ts'
import { callRequest, cookieReader } from './passage.ts'
import { allowedMethods } from './paths.ts'
import { type Log, problemBody, problemHeaders, toProblem } from './problem.ts'
import { contentSecurity } from './security.ts'
import type { Served } from './serve.ts'
import { whenClosed } from './when-closed.ts'

/*
 * The edge: everything that is true of every call is done here, once. The order of a call is: closing? address, what it
 * accepts, who asks, what they may, how often; then the body is read; then `carry`.
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

declare module 'fastify' {
  interface FastifyContextConfig {
    served?: Served
    bucket?: Bucket
    /** Says that a route without an endpoint needs no key. */
    open?: true
  }
  interface FastifyRequest {
    /** Null until the edge has let the call in. */
    passage: Passage | null
  }
}

/** Longest address in bytes; half of what all headers may have together. */
export const longestAddress = 16 * 1024

export interface Edge {
  readonly served: readonly Served[]
  readonly doors: Doors
  readonly log: Log
  readonly limits: Limits | undefined
  readonly seen: ((seen: Seen) => void) | undefined
  readonly closing: AbortController
  /** Headers of every answer. */
  readonly base: Record<string, string>
  /** Calls that are not answered yet. */
  readonly running: Set<FastifyRequest>
}

/** The order of things before a body is read. Rejects with a Problem; a route that nobody vouches for is refused. */
export async function enter(edge: Edge, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  watch(edge, request, reply)
  if (edge.closing.signal.aborted)
    throw new Problem('unavailable', 'The server is closing.', { headers: { connection: 'close' } })
  if ((request.raw.url ?? '').length > longestAddress) throw new Problem('uri_too_long')
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
  if (Number(headers['content-length'] ?? 0) > endpoint.bodyLimit) throw new Problem('payload_too_large')
  const cookie = cookieReader(request.raw)
  const key = keyOf(headers)
  const who = await whoAsks(edge, served, asked(request, cookie), key)
  const passage = passageOf(edge, request, reply, { who, cookie, served })
  request.passage = passage
  if (who.kind === 'nobody') return
  passage.headers['cache-control'] = 'no-store'
  if (edge.limits) Object.assign(passage.headers, await takeOne(edge.limits, who, bucket ?? 'read'))
}

/** A client that cannot set headers on a WebSocket says who it is in its first message. */
async function whoAsks(edge: Edge, { endpoint }: Served, asked: Omit<Asked, 'key'>, key: string | undefined) {
  try {
    return await admit(edge.doors, endpoint.access, asked, key)
  } catch (error) {
    const isLater = asked.isSocket && key === undefined && error instanceof Problem
    if (isLater && error.code === 'authentication_error') return nobody
    throw error
  }
}

export function asked(request: FastifyRequest, cookie: (name: string) => string | undefined): Omit<Asked, 'key'> {
  const { headers } = request.raw
  return {
    authorization: headers.authorization,
    accessToken: headers['x-access-token']?.toString(),
    sessionKey: headers['x-session-api-key']?.toString(),
    cookie,
    ip: request.ip,
    origin: headers.origin,
    host: headers.host,
    fetchSite: headers['sec-fetch-site']?.toString(),
    method: request.method,
    isSocket: request.routeOptions.config.served?.endpoint.answer === 'socket',
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
  const closing = isLong(served) ? endOf(edge, who, reply.raw) : edge.closing.signal
  const parts = {
    id,
    ip,
    raw,
    reply: reply.raw,
    closing,
    cookie,
    idempotencyKey: key,
    bodyLimit: served.endpoint.bodyLimit,
  }
  return {
    id,
    who,
    raw,
    request: callRequest(parts),
    reply: reply.raw,
    headers: { ...edge.base, 'x-request-id': id, 'content-security-policy': contentSecurity(served.endpoint.answer) },
    closing,
    params: request.params,
    query: request.query as Record<string, unknown>,
  }
}

const isLong = ({ endpoint }: Served) => endpoint.answer === 'sse' || endpoint.answer === 'json-array'

/** Aborts when the server closes or the caller's key is no longer good. */
function endOf({ doors, closing }: Edge, who: Who, reply: ServerResponse): AbortSignal {
  if (!doors.watch || who.kind === 'nobody') return closing.signal
  const ended = new AbortController()
  const unwatch = doors.watch(who, () => ended.abort(new Problem('authentication_error')))
  whenClosed(reply, unwatch)
  return AbortSignal.any([closing.signal, ended.signal])
}

function watch(edge: Edge, request: FastifyRequest, reply: FastifyReply): void {
  const started = performance.now()
  edge.running.add(request)
  reply.raw.once('close', () => {
    edge.running.delete(request)
    if (edge.seen) edge.seen(seenOf(request, reply, started))
  })
}

const seenOf = (request: FastifyRequest, reply: FastifyReply, started: number): Seen => ({
  request_id: request.id,
  method: request.method,
  route: request.routeOptions.config?.served?.endpoint.path ?? 'none',
  status: reply.raw.statusCode,
  millis: performance.now() - started,
  owner: request.passage?.who.owner ?? '',
  key_id: request.passage?.who.id ?? '',
  ip: request.ip,
})

export function notFound(edge: Edge, request: FastifyRequest): never {
  const allowed = allowedMethods(edge.served, request.url)
  if (allowed.length > 0 && !allowed.includes(request.method)) {
    throw new Problem('method_not_allowed', undefined, { headers: { allow: allowed.join(', ') } })
  }
  throw new Problem('not_found')
}

export function sendProblem(edge: Edge, request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  const context = { request_id: request.id, method: request.method, route: request.routeOptions?.url }
  const problem = toProblem(error, edge.log, context)
  reply.hijack()
  // Too late for a status: a cut connection tells the client that the answer is not whole.
  if (reply.raw.headersSent) return void reply.raw.destroy()
  const security = { 'x-request-id': request.id, 'content-security-policy': contentSecurity('json') }
  const headers = { ...edge.base, ...security, ...limitHeaders(request.passage?.headers), ...problemHeaders(problem) }
  sendText(reply.raw, { status: problem.status, headers, body: JSON.stringify(problemBody(problem, request.id)) })
}

const limitHeaders = (headers: Passage['headers'] = {}) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('ratelimit')))
