import { Problem } from '@parley/contract/problems'
import { codeOfStatus } from './read-stream.ts'

/* The calling end of a WebSocket: JSON frames in both directions. Runs in browsers too. */

/** A connection that stands. */
export interface Line<T> {
  /** What the other end says, in order; ends when the line is closed, rejects with `Problem` when it was refused or broke. */
  readonly messages: AsyncIterable<T>
  /** Sends one frame; nothing when the line is closed. */
  send(frame: unknown): void
  close(): void
}

interface Dial {
  /** With the scheme `http` or `https`, or a path of the page's own origin. */
  address: string
  key: string | undefined
  signal: AbortSignal | undefined
}

const refusals: Record<number, number> = { 4001: 401, 4003: 403, 4004: 404, 4000: 409, 1013: 503 }

/** Resolves when the line stands. Rejects with `unavailable` when it cannot be opened. */
export async function openLine<T>({ address, key, signal }: Dial): Promise<Line<T>> {
  const socket = new WebSocket(address.replace(/^http/, 'ws'))
  const heard: T[] = []
  const ended = Promise.withResolvers<void>()
  let wake = () => {}
  socket.addEventListener('message', ({ data }) => {
    heard.push(JSON.parse(String(data)) as T)
    wake()
  })
  socket.addEventListener('close', ({ code, reason }) => {
    if (code === 1000 || code === 1005) ended.resolve()
    else ended.reject(new Problem(codeOfStatus(refusals[code] ?? 503), reason === '' ? 'The line broke.' : reason))
    wake()
  })
  ended.promise.catch(() => undefined)
  const close = () => socket.close(1000)
  signal?.addEventListener('abort', close, { once: true })
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true })
    socket.addEventListener('close', () => reject(new Problem('unavailable', 'The line could not be opened.')), {
      once: true,
    })
  })
  const send = (frame: unknown) => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(frame))
  }
  if (key !== undefined) send({ type: 'auth', api_key: key })

  async function* messages(): AsyncGenerator<T> {
    for (;;) {
      for (let one = heard.shift(); one !== undefined; one = heard.shift()) yield one
      if (socket.readyState === socket.CLOSED) return await ended.promise
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  return { messages: messages(), send, close }
}
