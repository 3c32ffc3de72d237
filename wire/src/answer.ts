import { hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { AnyEndpoint } from '@parley/contract/endpoint'
import type { KeptAnswer } from './idempotency.ts'
import type { Bytes } from './serve.ts'

export type Headers = Record<string, string | string[]>

/** JSON text of what the endpoint promises of `value`. Throws when the value is not that: a bug of ours. */
export function encoder(endpoint: AnyEndpoint): (value: unknown) => string {
  return (value) => {
    const result = endpoint.returns.safeParse(value)
    if (result.success) return result.data === undefined ? '' : JSON.stringify(result.data)
    const issues = result.error.issues.slice(0, 5).map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    throw new Error(`${endpoint.method} ${endpoint.path} does not return what it promises: ${issues.join('; ')}`)
  }
}

/** Strong: equal for equal bytes. */
export const etagOf = (text: string) => `"${hash('sha256', text, 'base64url').slice(0, 27)}"`

/** True when one of the tags in `If-None-Match` names this one (weakly compared, as RFC 9110 wants it). */
export const matches = (header: string, etag: string) =>
  header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag.replace(/^W\//, ''))

/** Sends a whole text. */
export function sendText(
  raw: ServerResponse,
  { status, headers, body }: { status: number; headers: Headers; body: string },
) {
  if (status !== 304) headers['content-length'] = String(Buffer.byteLength(body))
  raw.writeHead(status, headers)
  raw.end(status === 304 ? undefined : body)
}

/** Sends a kept answer again, byte by byte. */
export function replay(raw: ServerResponse, kept: KeptAnswer, headers: Headers): void {
  const again = { ...headers, ...kept.headers, 'idempotency-replayed': 'true' }
  sendText(raw, { status: kept.status, headers: again, body: kept.body })
}

/** Sends bytes; a source that fails midway cuts the connection, so that the client sees that they are not whole. */
export async function sendBytes(raw: ServerResponse, status: number, headers: Headers, bytes: Bytes): Promise<void> {
  headers['content-type'] = bytes.type
  const length = bytes.body instanceof Uint8Array ? bytes.body.byteLength : bytes.length
  if (length !== undefined) headers['content-length'] = String(length)
  if (bytes.name !== undefined) headers['content-disposition'] = disposition(bytes.name)
  raw.writeHead(status, headers)
  if (bytes.body instanceof Uint8Array) {
    raw.end(bytes.body)
    return
  }
  await pipeline(bytes.body instanceof Readable ? bytes.body : Readable.from(bytes.body), raw)
}

/** Both forms: the plain one for old readers, the encoded one with the name as it is (RFC 6266). */
function disposition(name: string): string {
  const plain = name.replaceAll(/[^\w .()-]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

/** False when the `Accept` header allows none of the endpoint's own types. */
export function isAcceptable(endpoint: AnyEndpoint, accept: string | undefined): boolean {
  if (accept === undefined || accept.includes('*/*')) return true
  const type = mediaTypes[endpoint.answer]
  if (type === undefined) return true
  const allowed = [type, `${type.split('/')[0]}/*`]
  return accept.split(',').some((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return allowed.includes(name) && !parameters.some((text) => /^q=0(\.0*)?$/.test(text))
  })
}

export const mediaTypes: Partial<Record<AnyEndpoint['answer'], string>> = {
  json: 'application/json',
  'json-array': 'application/json',
  sse: 'text/event-stream',
  html: 'text/html',
}
