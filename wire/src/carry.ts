import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Who } from '@parley/contract/endpoint'
import type { Problem } from '@parley/contract/problems'
import { encoder, etagOf, type Headers, matches, mediaTypes, replay, sendBytes, sendText } from './answer.ts'
import { type Attempt, attempt, beginOnce, isWorthKeeping, type Idempotency } from './idempotency.ts'
import { ignoredHeader, parser } from './parse.ts'
import { type Log, problemBody, problemHeaders, toProblem } from './problem.ts'
import type { AnyCall, Bytes, CallRequest, Frame, Served } from './serve.ts'
import type { Socket } from './socket.ts'
import { openStream, streamHeaders, writeArray, writeEvents } from './stream.ts'

/*
 * One call from parsed socket to sent answer: input by the schemas, at most once under an idempotency key, the handler,
 * output by the schema, the bytes.
 */

/** One request on its way: what the edge knows of it, and the headers that its answer will have. */
export interface Passage {
  readonly id: string
  readonly who: Who
  readonly request: CallRequest
  readonly raw: IncomingMessage
  readonly reply: ServerResponse
  readonly headers: Headers
  /** Aborts when the server closes or the caller's key ends; `request.signal` also when the client goes. */
  readonly closing: AbortSignal
  readonly params: unknown
  readonly query: Record<string, unknown>
}

export interface Pace {
  keepAliveMs: number
  heartbeatMs: number
  stallMs: number
  firstElementMs: number
}

export interface Carrier {
  /** `bytes`: the whole body of a JSON endpoint, undefined when none came. */
  carry(passage: Passage, bytes: Buffer | undefined): Promise<void>
}

interface Means {
  idempotency: Idempotency | undefined
  /** One transaction around what stores. */
  atOnce: <R>(work: () => Promise<R>) => Promise<R>
  log: Log
  pace: Pace
}

const mostKept = 1024 * 1024

/** Binds an endpoint to all that is worked out once. `carry` answers; it rejects only before the first byte was sent. */
export function carrier(served: Served, means: Means): Carrier {
  const { endpoint } = served
  const parse = parser(endpoint)
  const encode = encoder(endpoint)

  /** What is to be sent. A JSON text is kept before it is sent, and in the transaction of what it tells where there is one. */
  async function answerOf(
    passage: Passage,
    call: AnyCall,
    once: Once | undefined,
  ): Promise<() => Promise<void> | void> {
    const given = await served.handle(call)
    const status = call.answer.status ?? endpoint.status
    const type = mediaTypes[endpoint.answer]
    if (type !== undefined)
      passage.headers['content-type'] = endpoint.answer === 'html' ? `${type}; charset=utf-8` : type
    if (endpoint.answer !== 'json') return () => send(passage, status, given, once)
    const body = encode(given)
    if (body === '') delete passage.headers['content-type']
    if (endpoint.etag) passage.headers.etag ??= etagOf(body)
    await once?.keep(status, passage.headers, body)
    return () => sendJson(passage, status, body)
  }

  function send(passage: Passage, status: number, given: unknown, once: Once | undefined): Promise<void> | void {
    switch (endpoint.answer) {
      case 'html':
        return sendText(passage.reply, { status, headers: passage.headers, body: String(given) })
      case 'bytes':
        // A handler of a `bytes` endpoint gives Bytes: `serve` has checked its type.
        return sendBytes(passage.reply, status, passage.headers, given as Bytes)
      case 'json-array':
        return sendArray(passage, status, given as AsyncIterable<unknown>, once)
      case 'sse':
        return sendEvents(passage, status, given as AsyncIterable<Frame<unknown>>)
      case 'json':
      case 'socket':
        throw new Error(`a ${endpoint.answer} endpoint was carried as another`)
    }
  }

  function sendJson({ headers, raw, reply }: Passage, status: number, body: string): void {
    const seen = raw.headers['if-none-match']
    const isSame =
      endpoint.method === 'GET' && seen !== undefined && typeof headers.etag === 'string' && matches(seen, headers.etag)
    sendText(reply, isSame ? { status: 304, headers, body: '' } : { status, headers, body })
  }

  function streamOptions(passage: Passage, keepAliveMs: number) {
    return {
      encode,
      fail: (error: unknown) =>
        JSON.stringify(problemBody(toProblem(error, means.log, { request_id: passage.id }), passage.id)),
      keepAliveMs,
      stallMs: means.pace.stallMs,
    }
  }

  async function sendArray(passage: Passage, status: number, elements: AsyncIterable<unknown>, once: Once | undefined) {
    const opened = await openStream(elements, means.pace.firstElementMs)
    const headers = { ...passage.headers, ...streamHeaders }
    passage.reply.writeHead(status, headers)
    let kept = ''
    const record = (text: string) => (kept = kept.length > mostKept ? kept : kept + text)
    const signal = once ? passage.closing : passage.request.signal
    const options = { ...streamOptions(passage, means.pace.keepAliveMs), signal, ...(once ? { record } : {}) }
    await writeArray(passage.reply, opened, options)
    if (kept.length > mostKept || signal.aborted) await once?.forget()
    else await once?.keep(status, headers, kept)
  }

  async function sendEvents(passage: Passage, status: number, frames: AsyncIterable<Frame<unknown>>) {
    const opened = await openStream(frames, means.pace.firstElementMs)
    passage.reply.writeHead(status, { ...passage.headers, ...streamHeaders })
    const options = { ...streamOptions(passage, means.pace.heartbeatMs), signal: passage.request.signal }
    await writeEvents(passage.reply, opened, options)
  }

  return {
    async carry(passage, bytes) {
      const key = passage.request.idempotencyKey
      const input = { params: parse.params(passage.params), query: parse.query(passage.query) }
      const { body, ignored } = parse.body(bytes, passage.raw.headers)
      if (ignored.length > 0) passage.headers['x-ignored-fields'] = ignoredHeader(ignored)
      const once =
        key === undefined || means.idempotency === undefined
          ? undefined
          : keeper(means.idempotency, attempt(endpoint, passage.who, key, { ...input, body }), means.log, served)
      const begun = await once?.begin()
      if (begun?.kind === 'replay') return replay(passage.reply, begun, passage.headers)
      try {
        const call = callOf(passage, { ...input, body }, { onceId: begun?.id })
        const work = () => answerOf(passage, call, once)
        const sent = await (served.atOnce ? means.atOnce(work) : work())
        await sent()
      } catch (error) {
        await once?.failed(toProblem(error, silent, {}), passage.id)
        throw error
      }
    },
  }
}

/** The edge logs what failed; once is enough. */
const silent: Log = { error: () => undefined, warn: () => undefined, info: () => undefined }

type Once = ReturnType<typeof keeper>

/**
 * One attempt under an idempotency key. What goes wrong in keeping is logged, since the effect has happened and is answered;
 * where both are one transaction it fails the call.
 */
function keeper(idempotency: Idempotency, request: Attempt, log: Log, { atOnce }: Served) {
  const end = async (...args: Parameters<Idempotency['end']>) => {
    try {
      await idempotency.end(...args)
    } catch (error) {
      log.error({ err: error, route: request.route }, 'an idempotent answer could not be kept')
    }
  }
  return {
    begin: () => beginOnce(idempotency, request),
    keep: (status: number, headers: Headers, body: string) =>
      (atOnce ? idempotency.end : end)(request, { status, headers: keptHeaders(headers), body }),
    forget: () => end(request, undefined),
    async failed(problem: Problem, id: string) {
      if (!isWorthKeeping(problem.status)) return end(request, undefined)
      const body = JSON.stringify(problemBody(problem, id))
      return end(request, { status: problem.status, headers: problemHeaders(problem), body })
    },
  }
}

const replayed = new Set([
  'content-type',
  'etag',
  'location',
  'cache-control',
  'x-ignored-fields',
  'deprecation',
  'sunset',
])

const keptHeaders = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => replayed.has(name))
      .map(([n, v]) => [n, String(v)]),
  )

/** What the handler is given. `socket` is there for socket endpoints alone. */
export function callOf(
  passage: Passage,
  input: { params: unknown; query: unknown; body: unknown },
  { socket, onceId }: { socket?: Socket; onceId?: string | undefined } = {},
): AnyCall {
  return {
    who: passage.who,
    params: input.params,
    query: input.query,
    body: input.body,
    request: passage.request,
    onceId,
    answer: { header: (name, value) => addHeader(passage.headers, name.toLowerCase(), value) },
    get socket() {
      if (socket) return socket
      throw new Error('this endpoint has no socket')
    },
  }
}

function addHeader(headers: Headers, name: string, value: string): void {
  const before = headers[name]
  headers[name] = name === 'set-cookie' && before !== undefined ? [before, value].flat() : value
}
