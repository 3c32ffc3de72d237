import type { Readable } from 'node:stream'
import type { Answer, AnyEndpoint, Endpoint, Who } from '@parley/contract/endpoint'
import type { z } from 'zod'
import type { Socket } from './socket.ts'

/*
 * A promise kept: an endpoint and the function that keeps it. `listen` carries it over HTTP. The handler sees parsed input
 * and gives a value; statuses, headers and errors are the edge's.
 */

/** One server-sent event. `id` is the cursor a client sends back as `Last-Event-ID`. */
export interface Frame<T> {
  id?: string
  event?: string
  data: T
}

/** An answer with a content type of its own. `length` in bytes when known; `name` makes it a download. */
export interface Bytes {
  type: string
  length?: number
  name?: string
  body: Readable | Uint8Array
}

export interface CallRequest {
  readonly id: string
  readonly ip: string
  /** The first value of a header, in lower or upper case. */
  header(name: string): string | undefined
  /** Value of a cookie. */
  cookie(name: string): string | undefined
  /** Aborts when the client goes or the server closes. */
  readonly signal: AbortSignal
  /** The body of `bytes` and `multipart` endpoints; already read otherwise. */
  readonly raw: Readable
  readonly idempotencyKey: string | undefined
}

export interface CallAnswer {
  /** Adds a response header; a second `set-cookie` is added to the first, any other replaces it. */
  header(name: string, value: string): void
  /** Replaces the endpoint's own status. */
  status?: number
}

export interface Call<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  readonly who: Who
  readonly params: z.output<P>
  readonly query: z.output<Q>
  readonly body: z.output<B>
  readonly request: CallRequest
  readonly answer: CallAnswer
  /**
   * Under an idempotency key: an id that is the same however often the request is made again. What a call makes takes it
   * for its own, so that it is made once also when the server died before it could answer.
   */
  readonly onceId: string | undefined
  /** Of `socket` endpoints only. */
  readonly socket: Socket
}

type Given<R extends z.ZodType> = z.input<R> extends undefined ? z.input<R> | void : z.input<R>

/** What a handler gives, by the endpoint's `answer`. Streams give elements; a generator may throw a `Problem` first. */
export type Returned<A extends Answer, R extends z.ZodType> = A extends 'json'
  ? Given<R>
  : A extends 'html'
    ? string
    : A extends 'bytes'
      ? Bytes
      : A extends 'sse'
        ? AsyncIterable<Frame<z.input<R>>>
        : A extends 'json-array'
          ? AsyncIterable<z.input<R>>
          : void

export type Handler<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  A extends Answer,
> = (call: Call<P, Q, B>) => Returned<A, R> | Promise<Returned<A, R>>

/** The call of an endpoint whose types are not known here. */
export type AnyCall = Call<z.ZodType, z.ZodType, z.ZodType>

export interface Served {
  readonly endpoint: AnyEndpoint
  readonly handle: (call: AnyCall) => unknown
  /** True: what the call stores, and that it was answered, are kept together or not at all. */
  readonly atOnce?: true
}

/** Binds a handler to an endpoint. The handler's input is parsed; what it gives is checked against `returns`. */
export function serve<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  A extends Answer,
>(endpoint: Endpoint<P, Q, B, R, A>, handler: Handler<P, Q, B, R, A>): Served {
  // The edge parses params, query and body by this very endpoint before it calls, so the types hold.
  return { endpoint, handle: (call) => handler(call as Call<P, Q, B>) }
}

/** For calls that change rows and nothing else: what they store, and that they were answered, is one transaction. */
export const atOnce = (served: Served): Served => ({ ...served, atOnce: true })
