import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Problem } from '@parley/contract/problems'
import type { Frame } from './serve.ts'

/*
 * Two ways to send one element after the other, written here and read in `read-stream.ts`.
 *
 * JSON array: `[`, newline, element, newline, `,`, newline, element, newline … `]`. Each element is a line of its own, so a
 * reader of lines and a reader of JSON are both served at once. An empty line keeps the connection alive. Whatever
 * happens, the array is closed.
 *
 * Server-sent events: `id` is the cursor. A comment keeps the connection alive. A client that stops reading is sent a last
 * event `resync` and cut: it comes again from its cursor, and nothing is kept for it meanwhile.
 */

export interface StreamOptions<T> {
  /** JSON text of an element; throws when it is not what the endpoint promises. */
  encode(element: T): string
  /** JSON text of the problem that ended the stream. Logs what is a bug. */
  fail(error: unknown): string
  /** Aborted: end the stream. */
  signal: AbortSignal
  keepAliveMs: number
  /** How long a client may take to read what is buffered. */
  stallMs: number
  /** Is shown all that is written but keep-alives. */
  record?: (text: string) => void
}

/** The first element, so that a failure before it is still an answer with a status; `waitMs` at most. */
export interface Opened<T> {
  iterator: AsyncIterator<T>
  first: Promise<IteratorResult<T>>
}

/** Starts reading; rejects when the iterable fails within `waitMs`. */
export async function openStream<T>(elements: AsyncIterable<T>, waitMs: number): Promise<Opened<T>> {
  const iterator = elements[Symbol.asyncIterator]()
  const first = iterator.next()
  let timer: NodeJS.Timeout | undefined
  const waited = new Promise<void>((resolve) => (timer = setTimeout(resolve, waitMs)))
  try {
    await Promise.race([first, waited])
  } finally {
    clearTimeout(timer)
  }
  return { iterator, first }
}

export const streamHeaders = { 'x-accel-buffering': 'no', 'cache-control': 'no-store, no-transform' }

/** Writes the elements as one JSON array. Resolves when the last byte was handed over; never rejects. */
export async function writeArray<T>(raw: ServerResponse, opened: Opened<T>, options: StreamOptions<T>): Promise<void> {
  const record = options.record ?? (() => undefined)
  let separator = ''
  const writer = pacedWriter(raw, options, '\n')
  const put = async (text: string) => {
    record(text)
    const written = await writer.write(text)
    if (!written) raw.destroy()
    return written
  }
  // A writer that is stuck is no reason to stop recording: the answer must be whole for who asks again.
  const goOn = (written: boolean) => written || options.record !== undefined
  const line = (json: string) => {
    const text = `${separator}${json}\n`
    separator = ',\n'
    return put(text)
  }
  let going = goOn(await put('[\n'))
  try {
    for await (const element of pull(opened, options.signal)) {
      if (going) going = goOn(await line(options.encode(element)))
      if (!going) break
    }
  } catch (error) {
    await line(options.fail(error))
  }
  await put(']')
  writer.end()
}

/** Writes the elements as server-sent events. Resolves when the stream has ended; never rejects. */
export async function writeEvents<T>(
  raw: ServerResponse,
  opened: Opened<Frame<T>>,
  options: StreamOptions<T>,
): Promise<void> {
  const writer = pacedWriter(raw, options, ': \n\n')
  let last: string | undefined
  let going = await writer.write(': \n\n')
  try {
    for await (const frame of pull(opened, options.signal)) {
      if (going) going = await writer.write(eventText({ ...frame, data: options.encode(frame.data) }))
      if (!going) break
      last = frame.id ?? last
    }
    if (!going) writer.force(eventText({ event: 'resync', data: JSON.stringify({ last_id: last ?? null }) }))
  } catch (error) {
    await writer.write(eventText({ event: 'problem', data: options.fail(error) }))
  }
  writer.end()
}

function eventText({ id, event, data }: Frame<string>): string {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`
  return `${head}data: ${data}\n\n`
}

/** The elements until the signal is aborted; a Problem as its reason is thrown. A source that does not react to being left is not waited for. */
async function* pull<T>({ iterator, first }: Opened<T>, signal: AbortSignal): AsyncGenerator<T> {
  let release: () => void = () => undefined
  const stop = () => release()
  signal.addEventListener('abort', stop, { once: true })
  // No race with one promise for all elements: that would keep something of each until the stream ends.
  const resultOf = (next: Promise<IteratorResult<T>>) =>
    new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
      release = () => resolve(undefined)
      if (signal.aborted) release()
      next.then(resolve, reject)
    })
  try {
    let next = first
    for (;;) {
      const result = await resultOf(next)
      if (result === undefined || result.done) {
        if (signal.reason instanceof Problem) throw signal.reason
        return
      }
      yield result.value
      next = iterator.next()
    }
  } finally {
    signal.removeEventListener('abort', stop)
    void Promise.resolve(iterator.return?.()).catch(() => undefined)
  }
}

/** Writes at the reader's pace. `write` gives false when the client is gone, or took longer than `stallMs`. */
function pacedWriter(raw: ServerResponse, options: { keepAliveMs: number; stallMs: number }, beat: string) {
  const timer = setInterval(() => {
    if (!raw.writableNeedDrain && !raw.destroyed && !raw.writableEnded) raw.write(beat)
  }, options.keepAliveMs)
  raw.on('error', () => raw.destroy())
  return {
    async write(text: string): Promise<boolean> {
      if (raw.destroyed || raw.writableEnded) return false
      if (raw.writableNeedDrain) return drained(raw, options.stallMs)
      return raw.write(text) || drained(raw, options.stallMs)
    },
    force(text: string) {
      if (!raw.destroyed && !raw.writableEnded) raw.write(text)
    },
    end() {
      clearInterval(timer)
      if (raw.destroyed) return
      raw.end()
      const linger = setTimeout(() => raw.destroy(), options.stallMs).unref()
      raw.once('close', () => clearTimeout(linger))
    },
  }
}

/** A slow reader drains thousands of times on one answer: what listens here is taken off each time, which `whenClosed` does not do. */
async function drained(raw: ServerResponse, ms: number): Promise<boolean> {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), ms)
  const closed = () => over.abort()
  raw.once('close', closed)
  try {
    await once(raw, 'drain', { signal: over.signal })
    return true
  } catch {
    return false
  } finally {
    clearTimeout(timer)
    raw.off('close', closed)
  }
}
