/*
 * A WebSocket as a handler sees it: whole text messages in, whole text messages out, a bounded queue on both sides.
 */

/** The part of the WebSocket library's object that is used here. */
export interface RawSocket {
  readonly readyState: number
  readonly bufferedAmount: number
  on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): void
  on(event: 'close' | 'pong', listener: () => void): void
  on(event: 'error', listener: (error: Error) => void): void
  send(text: string): void
  ping(): void
  close(code?: number, reason?: string): void
  terminate(): void
  pause(): void
  resume(): void
}

export interface Socket {
  /** Text messages of the client, in order; ends when the connection does. */
  readonly messages: AsyncIterable<string>
  /** False when the client is gone or reads too slowly: it was cut with 1013 and has to come again from its cursor. */
  send(text: string): boolean
  close(code: number, reason: string): void
  readonly closed: boolean
  /** Aborts when the connection is closed. */
  readonly signal: AbortSignal
}

const open = 1
const mostWaiting = 100

export interface SocketPace {
  /** Bytes that may wait for a slow client. */
  bufferBytes: number
  /** A ping is sent each time; a client that has not answered the last one is gone. */
  pingMs: number
}

export function socket(raw: RawSocket, limits: SocketPace): Socket {
  const inbox: string[] = []
  let woken: (() => void) | undefined
  let closed = false
  const gone = new AbortController()
  const wake = () => {
    woken?.()
    woken = undefined
  }
  raw.on('message', (data, isBinary) => {
    if (isBinary) return raw.close(1003, 'text only')
    inbox.push(data.toString('utf8'))
    if (inbox.length >= mostWaiting) raw.pause()
    wake()
  })
  raw.on('error', () => raw.terminate())
  raw.on('close', () => {
    closed = true
    gone.abort(new Error('the socket is closed'))
    wake()
  })
  keepAlive(raw, limits.pingMs)
  async function* messages(): AsyncGenerator<string> {
    for (;;) {
      for (let message = inbox.shift(); message !== undefined; message = inbox.shift()) {
        yield message
        if (inbox.length < mostWaiting) raw.resume()
      }
      if (closed) return
      await new Promise<void>((resolve) => (woken = resolve))
    }
  }
  const reader = messages()
  return {
    // One reader for all loops: leaving one loop must not lose what the next would read.
    messages: { [Symbol.asyncIterator]: () => ({ next: () => reader.next() }) },
    send(text) {
      if (closed || raw.readyState !== open) return false
      if (raw.bufferedAmount > limits.bufferBytes) {
        raw.close(1013, 'too slow')
        setTimeout(() => raw.terminate(), 5000).unref()
        return false
      }
      raw.send(text)
      return true
    },
    close: (code, reason) => raw.close(code, reason),
    signal: gone.signal,
    get closed() {
      return closed
    },
  }
}

function keepAlive(raw: RawSocket, pingMs: number): void {
  let answered = true
  raw.on('pong', () => (answered = true))
  const timer = setInterval(() => {
    if (!answered) return raw.terminate()
    answered = false
    raw.ping()
  }, pingMs)
  raw.on('close', () => clearInterval(timer))
}
