import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { type Dispatcher, type RequestInit, Response } from 'undici'
import { OutboundRefused } from './refused.ts'

/*
 * One request and its answer as `fetch` gives them, without what the standard asks of browsers: that bookkeeping was a third of
 * the work of a call to a model, which comes in many small pieces. Redirects are the caller's business.
 */

/** Answers that have no body, whatever the server sent. */
const bodiless = new Set([204, 205, 304])

/**
 * @param cap largest answer in bytes, counted after decompression; a longer one fails while it is read
 * Rejects with the signal's reason, with `OutboundRefused` for what is no answer, or with a `TypeError` whose cause says what
 * went wrong.
 */
export async function exchange(dispatcher: Dispatcher, url: URL, init: RequestInit, cap: number): Promise<Response> {
  const signal = init.signal ?? null
  signal?.throwIfAborted()
  const sent = await bodyOf(init)
  const asked = {
    origin: url.origin,
    path: url.pathname + url.search,
    method: (init.method ?? 'GET').toUpperCase() as Dispatcher.HttpMethod,
    headers: { accept: '*/*', 'accept-encoding': 'gzip, deflate, br', ...sent.headers },
    body: sent.body,
    signal,
  }
  const failed = (message: string) => (cause: unknown) => {
    if (signal?.aborted) throw signal.reason
    throw notHttp(cause) ?? new TypeError(message, { cause })
  }
  const { statusCode: status, headers, body } = await dispatcher.request(asked).catch(failed('fetch failed'))
  if (status < 200 || status > 599) {
    body.on('error', () => undefined).destroy()
    throw new OutboundRefused('not_http', `the answer has the status ${status}, which HTTP does not know`)
  }
  const fields = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    [value ?? []].flat().map((one) => [name, one]),
  )
  if (bodiless.has(status) || asked.method === 'HEAD') {
    await body.dump()
    return new Response(null, { status, headers: fields })
  }
  return new Response(streamed(plain(body, headers['content-encoding']), cap, failed('terminated')), {
    status,
    headers: fields,
  })
}

/** What the library says of such answers is written for its authors: an assertion that failed, a word of its parser. */
function notHttp(cause: unknown): OutboundRefused | undefined {
  if (!(cause instanceof Error)) return undefined
  const code = 'code' in cause ? String(cause.code) : ''
  const isOdd = code === 'ERR_ASSERTION' || /^bad (upgrade|response)$/.test(cause.message)
  if (!isOdd && cause.name !== 'HTTPParserError') return undefined
  const why = isOdd ? '' : (/ \(.+\)$/.exec(cause.message)?.[0] ?? '')
  return new OutboundRefused('not_http', `the answer is not HTTP${why}`)
}

const decoders = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const

/** What was sent, before it was compressed. An encoding that we did not ask for is left as it is. */
function plain(body: Readable, encoding: string | string[] | undefined): Readable {
  const decoder = Object.entries(decoders).find(([name]) => name === encoding)?.[1]
  // An error of either ends both, and the reader hears of it.
  return decoder === undefined ? body : pipeline(body, decoder(), () => undefined)
}

function streamed(body: Readable, cap: number, failed: (cause: unknown) => never) {
  body.on('error', () => undefined) // told by the pieces; left in the middle it is nobody's
  const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  let left = cap
  return new ReadableStream<Uint8Array>(
    {
      async pull(out) {
        const { done, value } = await pieces.next().catch(failed)
        if (done === true) return out.close()
        left -= value.byteLength
        if (left >= 0) return out.enqueue(value)
        body.destroy()
        throw new OutboundRefused('too_large', `the answer is larger than ${cap} bytes`)
      },
      cancel: () => void body.destroy(),
    },
    { highWaterMark: 0 },
  )
}

interface Sent {
  headers: Record<string, string>
  body: string | Uint8Array | null
}

/** Headers by lower-case name, and a body that can be sent as it is. */
async function bodyOf({ headers: given, body = null }: RequestInit): Promise<Sent> {
  const headers = Object.fromEntries(
    (Symbol.iterator in (given ?? {}) ? [...(given as Iterable<[string, string]>)] : Object.entries(given ?? {})).map(
      ([name, value]) => [name.toLowerCase(), String(value)],
    ),
  )
  if (body === null || body instanceof Uint8Array) return { headers, body }
  if (typeof body === 'string') return { headers: { 'content-type': 'text/plain;charset=UTF-8', ...headers }, body }
  const whole = new Response(body)
  const type = whole.headers.get('content-type')
  const bytes = Buffer.from(await whole.arrayBuffer())
  return { headers: { ...(type === null ? {} : { 'content-type': type }), ...headers }, body: bytes }
}
