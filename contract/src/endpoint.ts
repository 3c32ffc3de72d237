import { z } from 'zod'
import type { ProblemCode } from './problems.ts'

/** Scopes an API key can have. `keys:admin` is not part of a key's default scopes. */
export const scopes = [
  'conversations:read',
  'conversations:write',
  'events:read',
  'events:write',
  'sandboxes:control',
  'settings:read',
  'settings:write',
  'secrets:list',
  'secrets:write',
  'git:read',
  'git:write',
  'keys:admin',
] as const
export type Scope = (typeof scopes)[number]

/**
 * Who may call: `open` nobody needs a key; a scope: an API key (or signed-in user) that has it; `user`: any valid key;
 * `sandbox`: the session key of a sandbox (or an API key of its owner).
 */
export type Access = 'open' | 'user' | 'sandbox' | Scope

/**
 * How the answer travels: one JSON value · a JSON array written element by element · server-sent events · a WebSocket ·
 * bytes with a content type of their own · HTML.
 */
export type Answer = 'json' | 'json-array' | 'sse' | 'socket' | 'bytes' | 'html'

export interface Endpoint<
  P extends z.ZodType = z.ZodType,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
  A extends Answer = Answer,
> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `{name}` for each member of `params`. */
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly access: Access
  readonly params: P
  readonly query: Q
  readonly body: B
  /** Of the whole answer; of one element for `json-array` and `sse`. */
  readonly returns: R
  readonly status: 200 | 201 | 202 | 303
  readonly answer: A
  readonly fails: readonly ProblemCode[]
  /** `none`: a request without a body. `json`: refused with 415 otherwise. `multipart`, `bytes`: handed over as a stream. */
  readonly accepts: 'none' | 'json' | 'bytes' | 'multipart'
  /** Largest body in bytes; 1 MiB unless said. */
  readonly bodyLimit: number
  /** True: unknown members of the body are ignored and named in `X-Ignored-Fields`. False: refused with 422. */
  readonly lenient: boolean
  /** True: the answer carries an ETag, `If-None-Match` gives 304 and `If-Match` is honoured by the slice. */
  readonly etag: boolean
  readonly example: { readonly body?: unknown; readonly returns?: unknown }
  readonly deprecated: boolean
}

/** An endpoint whose types are not known. */
export type AnyEndpoint = Endpoint

export const Nothing = z.undefined()
type Nothing = typeof Nothing
export const NoFields = z.object({})
type NoFields = typeof NoFields

interface Said<P, Q, B, R, A> {
  method: Endpoint['method']
  path: string
  summary: string
  description?: string
  access: Access
  params?: P
  query?: Q
  body?: B
  returns?: R
  status?: Endpoint['status']
  answer?: A
  fails?: readonly ProblemCode[]
  accepts?: Endpoint['accepts']
  bodyLimit?: number
  lenient?: boolean
  etag?: boolean
  example?: Endpoint['example']
  deprecated?: boolean
}

/** A call as a value: `wire/serve` keeps it, `wire/call` makes it, `wire/openapi` describes it. */
export function endpoint<
  P extends z.ZodType = NoFields,
  Q extends z.ZodType = NoFields,
  B extends z.ZodType = Nothing,
  R extends z.ZodType = Nothing,
  A extends Answer = 'json',
>(said: Said<P, Q, B, R, A>): Endpoint<P, Q, B, R, A> {
  return {
    method: said.method,
    path: said.path,
    summary: said.summary,
    description: said.description ?? said.summary,
    access: said.access,
    params: (said.params ?? NoFields) as P,
    query: (said.query ?? NoFields) as Q,
    body: (said.body ?? Nothing) as B,
    returns: (said.returns ?? Nothing) as R,
    status: said.status ?? 200,
    // What is not said is inferred as the default.
    answer: said.answer ?? ('json' as A),
    fails: said.fails ?? [],
    accepts: said.accepts ?? (said.body === undefined ? 'none' : 'json'),
    bodyLimit: said.bodyLimit ?? 1024 * 1024,
    lenient: said.lenient ?? true,
    etag: said.etag ?? false,
    example: said.example ?? {},
    deprecated: said.deprecated ?? false,
  }
}

/** Who asks. What is not the owner's own is not found. */
export interface Who {
  /** The user whose things these are. */
  readonly owner: string
  readonly kind: 'key' | 'session' | 'sandbox' | 'nobody'
  /** Of the key, the browser session or the sandbox; empty for nobody. */
  readonly id: string
  readonly scopes: readonly Scope[]
}
