import type { Answer, AnyEndpoint, Endpoint } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import type { z } from 'zod'
import { type Line, openLine } from './line.ts'
import { codeOfStatus, problemIn, readArray, readEvents } from './read-stream.ts'
import type { Frame } from './serve.ts'

/*
 * A promise used: the same endpoint that a server keeps, as a typed function. Runs in browsers too.
 */

/** What a platform's own `fetch` takes as a body. */
export type RawBody = NonNullable<RequestInit['body']>

type Scalar = string | number | boolean
/** A field that the schema coerces may be any scalar. */
type Loose<T> = { [K in keyof T]: unknown extends T[K] ? Scalar | undefined : T[K] }
type Nothing = Record<never, never>
type Field<K extends string, T> = undefined extends T
  ? { [N in K]?: T }
  : Nothing extends T
    ? { [N in K]?: T }
    : { [N in K]: T }

export type Input<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = Field<'params', z.input<P>> &
  Field<'query', Loose<z.input<Q>>> &
  Field<'body', z.input<B>> & {
    headers?: Record<string, string>
    /** The body of a `bytes` or `multipart` endpoint. */
    raw?: RawBody
  }

/** What came back from a `bytes` endpoint. */
export interface Received {
  type: string
  length: number | undefined
  body: ReadableStream<Uint8Array>
}

/** What a call gives, by the endpoint's `answer`. Streams give elements, each as it comes. */
export type Output<A extends Answer, R extends z.ZodType> = A extends 'json'
  ? z.output<R>
  : A extends 'html'
    ? string
    : A extends 'bytes'
      ? Received
      : A extends 'sse'
        ? AsyncIterable<Frame<z.output<R>>>
        : A extends 'json-array'
          ? AsyncIterable<z.output<R>>
          : Line<z.output<R>>

export interface CallOptions {
  signal?: AbortSignal
}

export type Arguments<I> = Nothing extends I ? [input?: I, options?: CallOptions] : [input: I, options?: CallOptions]

export interface Caller {
  /** Rejects with `Problem` (also `unavailable` and `upstream_timeout` when no answer came) or the signal's reason. */
  <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType, A extends Answer>(
    endpoint: Endpoint<P, Q, B, R, A>,
    ...rest: Arguments<Input<P, Q, B>>
  ): Promise<Output<A, R>>
}

export interface CallerOptions {
  /** Without a slash at the end; empty in a page of the same origin. */
  baseUrl: string
  key?: string
  fetch?: typeof fetch
  /** Until the answer starts, and then between two pieces of it. 120 s unless said. */
  timeoutMs?: number
  /** Sent with every call. */
  headers?: Record<string, string>
}

interface AnyInput {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  headers?: Record<string, string>
  raw?: RawBody
}

/** A function that makes calls to one server with one key. */
export function caller(options: CallerOptions): Caller {
  const call = (endpoint: AnyEndpoint, input: AnyInput = {}, { signal }: CallOptions = {}) =>
    send(options, endpoint, input, signal)
  // What comes back follows from `endpoint.answer`, as the type says.
  return call as unknown as Caller
}

async function send(options: CallerOptions, endpoint: AnyEndpoint, input: AnyInput, signal?: AbortSignal) {
  const address = addressOf(options.baseUrl, endpoint.path, input)
  if (endpoint.answer === 'socket') return openLine({ address, key: options.key, signal })
  const watch = watchdog(options.timeoutMs ?? 120_000, signal)
  let response: Response
  try {
    const request = requestOf(options, endpoint, input)
    response = await (options.fetch ?? fetch)(address, {
      ...request,
      signal: watch.signal,
    })
    if (!response.ok) throw await problemOf(response)
    return await read(endpoint.answer, response, watch)
  } catch (error) {
    watch.stop()
    throw watch.explain(error, options.baseUrl)
  }
}

function requestOf(options: CallerOptions, endpoint: AnyEndpoint, input: AnyInput): RequestInit {
  const headers: Record<string, string> = { ...options.headers, ...input.headers }
  if (options.key !== undefined) headers.authorization ??= `Bearer ${options.key}`
  const request: RequestInit = { method: endpoint.method, headers, redirect: 'error' }
  if (input.raw !== undefined) return { ...request, body: input.raw, duplex: 'half' } as RequestInit
  if (input.body === undefined) return request
  headers['content-type'] = 'application/json'
  return { ...request, body: JSON.stringify(input.body) }
}

/** The address of a call; a list in the query is repeated, what is undefined is left out. */
export function addressOf(baseUrl: string, path: string, { params = {}, query = {} }: AnyInput): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(params[name] ?? '')
    if (value === '') throw new TypeError(`the path ${path} needs ${name}`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) search.append(name, String(one))
    }
  }
  return `${baseUrl}${filled}${search.size > 0 ? `?${search}` : ''}`
}

async function problemOf(response: Response): Promise<Problem> {
  const text = (await response.text()).slice(0, 1024 * 1024)
  const header = Number(response.headers.get('retry-after') ?? Number.NaN)
  const retryAfter = Number.isFinite(header) ? header : undefined
  try {
    const problem = problemIn(JSON.parse(text), retryAfter)
    if (problem) return problem
  } catch {
    // Not ours: something between us and the server answered.
  }
  return new Problem(codeOfStatus(response.status), `The answer was ${response.status} without a problem body.`)
}

async function read(answer: Answer, response: Response, watch: Watchdog): Promise<unknown> {
  if (answer === 'json-array') return watched(readArray(chunksOf(response, watch)), watch)
  if (answer === 'sse') return watched(readEvents(chunksOf(response, watch)), watch)
  if (answer === 'bytes') {
    watch.stop()
    const length = response.headers.get('content-length')
    return {
      type: response.headers.get('content-type') ?? 'application/octet-stream',
      length: length === null ? undefined : Number(length),
      body: response.body,
    }
  }
  const text = await response.text()
  watch.stop()
  if (answer === 'html') return text
  return text === '' ? undefined : JSON.parse(text)
}

async function* chunksOf(response: Response, watch: Watchdog): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  if (!reader) return
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      watch.seen()
      yield value
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

async function* watched<T>(elements: AsyncIterable<T>, watch: Watchdog): AsyncGenerator<T> {
  try {
    yield* elements
  } catch (error) {
    throw watch.explain(error, 'the server')
  } finally {
    watch.stop()
  }
}

type Watchdog = ReturnType<typeof watchdog>

/** A deadline that every piece of the answer moves on, joined with the caller's own signal. */
function watchdog(ms: number, signal: AbortSignal | undefined) {
  const late = new AbortController()
  const bark = () => late.abort(new Problem('upstream_timeout', `No answer within ${ms} ms.`))
  let timer = setTimeout(bark, ms)
  return {
    signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    seen() {
      clearTimeout(timer)
      timer = setTimeout(bark, ms)
    },
    stop: () => clearTimeout(timer),
    /** What to throw: the caller's own reason, the deadline, a problem as it is, or that nobody answered. */
    explain(error: unknown, whom: string): unknown {
      if (signal?.aborted) return signal.reason
      if (late.signal.aborted) return late.signal.reason
      if (error instanceof Problem) return error
      if (error instanceof TypeError && error.message.startsWith('the path')) return error
      if (error instanceof TypeError)
        return new Problem('unavailable', `${whom} cannot be reached.`, {}, { cause: error })
      return error
    },
  }
}
