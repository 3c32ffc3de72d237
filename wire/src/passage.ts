import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { Problem } from '@parley/contract/problems'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { CallRequest } from './serve.ts'
import { whenClosed } from './when-closed.ts'

/** The request's own id when it has a usable one, else a new one. */
export function requestId(raw: IncomingMessage): string {
  const given = raw.headers['x-request-id']
  return typeof given === 'string' && /^[A-Za-z0-9._-]{8,128}$/.test(given) ? given : randomUUID()
}

const one = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value)

/** Value of a cookie; cookies are parsed when the first is asked for. */
export function cookieReader(raw: IncomingMessage): (name: string) => string | undefined {
  let cookies: Record<string, string | undefined> | undefined
  return (name) => {
    cookies ??= parseCookie(raw.headers.cookie ?? '')
    return Object.hasOwn(cookies, name) ? cookies[name] : undefined
  }
}

export interface RequestParts {
  id: string
  ip: string
  raw: IncomingMessage
  reply: ServerResponse
  closing: AbortSignal
  cookie: (name: string) => string | undefined
  idempotencyKey: string | undefined
  /** Largest body in bytes. */
  bodyLimit: number
}

/** What a handler may know of the request. The signal is made when it is asked for: most calls need none. */
export function callRequest({
  id,
  ip,
  raw,
  reply,
  closing,
  cookie,
  idempotencyKey,
  bodyLimit,
}: RequestParts): CallRequest {
  let body: Readable | undefined
  let signal: AbortSignal | undefined
  return {
    id,
    ip,
    get raw() {
      body ??= limited(raw, bodyLimit)
      return body
    },
    idempotencyKey,
    cookie,
    header: (name) => one(raw.headers[name.toLowerCase()]),
    get signal() {
      signal ??= AbortSignal.any([closing, goneSignal(reply)])
      return signal
    },
  }
}

/** The body up to `limit` bytes; it fails with `payload_too_large` beyond. The rest is read and dropped, or no answer fits. */
function limited(raw: IncomingMessage, limit: number): Readable {
  let seen = 0
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      if (seen <= limit) return done(null, chunk)
      raw.unpipe(counted)
      raw.resume()
      done(new Problem('payload_too_large'))
    },
  })
  // Told to whoever reads it; while nobody does, it would be an error that nobody hears, and that ends the process.
  counted.on('error', () => undefined)
  whenClosed(raw, () => {
    if (!raw.complete) counted.destroy(new Error('the client is gone'))
  })
  return raw.pipe(counted)
}

/** Aborts when the connection of an unfinished answer is closed. */
function goneSignal(reply: ServerResponse): AbortSignal {
  const gone = new AbortController()
  whenClosed(reply, () => {
    if (!reply.writableFinished) gone.abort(new Error('the client is gone'))
  })
  return gone.signal
}

export interface CookieOptions {
  path?: string
  /** Seconds; 0 removes the cookie. */
  maxAge?: number
  httpOnly?: boolean
  secure?: boolean
  sameSite?: 'strict' | 'lax' | 'none'
}

/** Value of a `set-cookie` header. */
export const cookieText = (name: string, value: string, options: CookieOptions): string =>
  stringifySetCookie({ name, value, ...options })
