import { StringDecoder } from 'node:string_decoder'
import type { Process } from '@parley/sandbox/driver'

/*
 * The browser's own protocol, spoken over two pipes of its process and not over a port: nothing else, inside the sandbox or
 * outside, can drive it. Messages are JSON, each ended by a zero byte.
 */

export interface Cdp {
  /** Rejects with `BrowserError`: what the browser says, that it is gone, or that it does not answer. */
  send<T = unknown>(method: string, params?: object, session?: string): Promise<T>
  readonly gone: boolean
}

/** One thing that the browser tells by itself. */
export interface CdpEvent {
  method: string
  params: Record<string, unknown>
  session: string | null
}

export class BrowserError extends Error {
  override name = 'BrowserError'
}

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
  timer: NodeJS.Timeout
}

interface Said {
  id?: number
  result?: unknown
  error?: { message?: string }
  method?: string
  params?: Record<string, unknown>
  sessionId?: string
}

/** Characters. */
const mostComplaint = 1_000
const answerMs = 30_000
/** Of one message: a screenshot, the tree of a large page. */
const mostCharacters = 64 * 1024 * 1024

export function openCdp(process: Process, told: (event: CdpEvent) => void): Cdp {
  const waiting = new Map<number, Waiting>()
  let last = 0
  let gone: string | null = null

  const end = (why: string) => {
    gone ??= why
    for (const one of waiting.values()) {
      clearTimeout(one.timer)
      one.reject(new BrowserError(gone))
    }
    waiting.clear()
  }
  const take = (text: string) => {
    const said = JSON.parse(text) as Said
    if (said.id === undefined) {
      if (said.method !== undefined)
        told({ method: said.method, params: said.params ?? {}, session: said.sessionId ?? null })
      return
    }
    const one = waiting.get(said.id)
    waiting.delete(said.id)
    clearTimeout(one?.timer)
    if (said.error === undefined) one?.resolve(said.result)
    else one?.reject(new BrowserError(said.error.message ?? 'The browser refused it.'))
  }
  const giveUp = (why: string) => {
    end(why)
    void process.kill()
  }
  // Whatever runs in the sandbox may speak in the browser's place.
  const understand = (text: string) => {
    try {
      take(text)
    } catch {
      giveUp('The browser said what is no message of a browser.')
    }
  }
  process.stdout.on(
    'data',
    split(understand, () => giveUp('The browser said more than can be kept.')),
  )
  process.stdout.on('error', () => {})
  process.stdout.on('end', () => void process.kill(0))
  process.stdin.on('error', () => {})
  const complaint = tailOf(process)
  void process.ended.then(({ reason }) => end(`The browser ended. ${reason ?? complaint()}`.trim()))

  return {
    get gone() {
      return gone !== null
    },
    send: <T>(method: string, params: object = {}, session?: string) =>
      new Promise<T>((resolve, reject) => {
        if (gone !== null) return reject(new BrowserError(gone))
        const id = (last += 1)
        const late = () => {
          waiting.delete(id)
          reject(new BrowserError(`The page did not answer within ${answerMs / 1000} s.`))
        }
        const timer = setTimeout(late, answerMs)
        waiting.set(id, { resolve: resolve as Waiting['resolve'], reject, timer })
        const whole = { id, method, params, ...(session === undefined ? {} : { sessionId: session }) }
        process.stdin.write(`${JSON.stringify(whole)}\0`)
      }),
  }
}

/** The last of what it complains of, for when it ends. */
function tailOf({ stderr }: Process): () => string {
  let tail = ''
  stderr.on('data', (piece: Buffer) => (tail = (tail + piece.toString('utf8')).slice(-mostComplaint)))
  stderr.on('error', () => {})
  return () => tail.trim()
}

function split(take: (text: string) => void, tooLong: () => void): (piece: Buffer) => void {
  const decoder = new StringDecoder('utf8')
  let pieces: string[] = []
  let size = 0
  return (piece) => {
    const [first = '', ...rest] = decoder.write(piece).split('\0')
    pieces.push(first)
    size += first.length
    for (const next of rest) {
      take(pieces.join(''))
      pieces = [next]
      size = next.length
    }
    if (size > mostCharacters) tooLong()
  }
}
