import { createHash } from 'node:crypto'
import type { AnyEndpoint, Who } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import { canonicalJson } from './json.ts'

/** One request under an idempotency key. The key counts within owner, method and route. */
export interface Attempt {
  owner: string
  method: string
  /** The endpoint's path with its `{names}`. */
  route: string
  key: string
  /** SHA-256 (hex) of path parameters, query and body. */
  fingerprint: string
}

/** An answer as it left, to be sent again byte by byte. */
export interface KeptAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** `id`: the same for each attempt of one request; nothing is kept of an attempt without one. */
export type Begun =
  | { kind: 'new'; id?: string }
  | ({ kind: 'replay' } & KeptAnswer)
  | { kind: 'busy' }
  | { kind: 'mismatch' }

export interface Idempotency {
  begin(attempt: Attempt): Promise<Begun>
  /** `undefined`: forget the attempt, so that it may be made again. */
  end(attempt: Attempt, answer: KeptAnswer | undefined): Promise<void>
}

/** The key of the header, without the quotes it may have; undefined when it is not sent or the method needs none. */
export function idempotencyKey(endpoint: AnyEndpoint, header: string | string[] | undefined): string | undefined {
  if (header === undefined || (endpoint.method !== 'POST' && endpoint.method !== 'DELETE')) return undefined
  if (Array.isArray(header)) throw new Problem('malformed_idempotency_key')
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new Problem('malformed_idempotency_key')
  return key
}

export interface Input {
  params: unknown
  query: unknown
  body: unknown
}

export const attempt = (endpoint: AnyEndpoint, who: Who, key: string, input: Input): Attempt => ({
  owner: who.owner,
  method: endpoint.method,
  route: endpoint.path,
  key,
  fingerprint: createHash('sha256')
    .update(canonicalJson([input.params, input.query, input.body]))
    .digest('hex'),
})

/** A kept answer to send again, or that the work is to be done now; a Problem when neither is right. */
export async function beginOnce(
  idempotency: Idempotency,
  request: Attempt,
): Promise<Extract<Begun, { kind: 'new' | 'replay' }>> {
  const begun = await idempotency.begin(request)
  switch (begun.kind) {
    case 'new':
    case 'replay':
      return begun
    case 'busy':
      throw new Problem('idempotency_in_progress', undefined, { retryAfter: 1 })
    case 'mismatch':
      throw new Problem('idempotency_mismatch')
  }
}

/** A request that was refused as such, or turned away for now, may be corrected or made again under the same key. */
export const isWorthKeeping = (status: number) => ![400, 401, 403, 422, 428, 429, 503].includes(status)
