import type { Clock } from '@parley/store/clock'
import { ModelError } from './model.ts'

/*
 * The way out of one call. It puts the kept history into the body, refuses what is not a stream of events, counts what comes
 * in and ends a call that stays silent.
 */

export interface Limits {
  /** Milliseconds of silence before the first output and while the model thinks. */
  thinkMs: number
  /** Milliseconds of silence while it writes. */
  idleMs: number
  /** Milliseconds of the whole call. */
  callMs: number
  /** Bytes of the answer. */
  bytes: number
}

export const defaultLimits: Limits = { thinkMs: 300_000, idleMs: 30_000, callMs: 3_600_000, bytes: 8 * 1024 * 1024 }

export interface Call {
  fetch: typeof fetch
  signal: AbortSignal
  /** Whether the model is writing now: its silence is then the shorter one. */
  writing(now: boolean): void
  /** Why this side ended the call, or null. */
  failure(): ModelError | null
  [Symbol.dispose](): void
}

interface Parts {
  fetch: typeof fetch
  clock: Clock
  limits: Limits
  signal: AbortSignal
  body: (json: string) => Uint8Array
}

/** Why our own signals are aborted when all is well: one object for all, since a new error costs a stack. */
const ended = new Error('the call is over')

/** Dispose it when the call is over, however it ended. */
export function openCall({ fetch, clock, limits, signal, body }: Parts): Call {
  const over = new AbortController()
  const ends = AbortSignal.any([signal, over.signal])
  let failure: ModelError | null = null
  const fail = (error: ModelError) => {
    failure ??= error
    over.abort(failure)
    return failure
  }
  const watch = watchSilence(clock, limits, fail)
  return {
    signal: ends,
    failure: () => failure,
    writing: watch.writing,
    fetch: async (url, init) => {
      const sent = typeof init?.body === 'string' ? { body: body(init.body) as Uint8Array<ArrayBuffer> } : {}
      const response = await fetch(url, { ...init, ...sent, redirect: 'manual', signal: ends })
      watch.heard()
      await refuse(response).catch((error: ModelError) => Promise.reject(fail(error)))
      const { status, statusText, headers } = response
      const answer = response.body && counted(response.body, limits.bytes, watch.heard, fail)
      return new Response(answer, { status, statusText, headers })
    },
    [Symbol.dispose]() {
      watch.stop()
      over.abort(ended)
    },
  }
}

/** Fails the call that says nothing for too long, or that takes too long as a whole. */
function watchSilence(clock: Clock, limits: Limits, fail: (error: ModelError) => void) {
  const done = new AbortController()
  const start = clock.millis()
  let heard = start
  let silence = limits.thinkMs
  const watch = async () => {
    for (;;) {
      const wait = Math.min(heard + silence, start + limits.callMs) - clock.millis()
      if (wait <= 0) break
      await clock.sleep(Math.min(wait, limits.idleMs), done.signal)
    }
    const waited = Math.round((clock.millis() - heard) / 1000)
    const why = clock.millis() - heard >= silence ? `was silent for ${waited} s` : 'took too long to answer in full'
    fail(new ModelError('transient', `The provider ${why}; the call was ended.`))
  }
  watch().catch(() => {}) // rejects only when the call is over
  return {
    stop: () => done.abort(ended),
    heard: () => void (heard = clock.millis()),
    writing: (now: boolean) => void (silence = now ? limits.idleMs : limits.thinkMs),
  }
}

/** The same pieces, counted. Not a TransformStream, which costs more than all that is done with a piece. */
function counted(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  most: number,
  heard: () => void,
  fail: (error: ModelError) => ModelError,
) {
  const pieces = body.getReader()
  let bytes = 0
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(out) {
        const { done, value } = await pieces.read()
        if (done) return out.close()
        heard()
        bytes += value.byteLength
        if (bytes > most) throw fail(tooLong(most))
        out.enqueue(value)
      },
      cancel: (reason) => pieces.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

const tooLong = (bytes: number) =>
  new ModelError('bad_request', `The provider's answer is longer than ${bytes / 1024 / 1024} MiB; it was cut off.`)

async function refuse(response: Response): Promise<void> {
  if (response.status >= 300 && response.status < 400) {
    const to = response.headers.get('location') ?? 'nowhere'
    throw new ModelError('config', `The provider's address redirects to ${to}; use that as the base URL.`, {
      status: response.status,
    })
  }
  const type = response.headers.get('content-type') ?? ''
  if (!response.ok || !/text\/html|application\/json/i.test(type)) return
  const text = await opening(response)
  throw new ModelError('bad_request', `The provider answered with ${type} instead of a stream of events: ${text}`)
}

/** The first kilobytes of an answer that is not for us. */
async function opening(response: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length >= 2000) break
  }
  return text.slice(0, 2000)
}
