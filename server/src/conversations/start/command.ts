import type { Hands } from '@parley/sandbox/driver'

/** One long command of a start: what it said last, and how it ended. */

export interface Said {
  /** Null: it was ended for taking too long. */
  code: number | null
  /** The last of what it printed, both streams together. */
  tail: string
}

const keptChars = 30_000
const killGraceMs = 2_000

export interface LongCommand {
  argv: [string, ...string[]]
  cwd: string
  env?: Record<string, string>
  timeoutMs: number
  signal: AbortSignal
  /** Is given everything that is printed, as it comes. */
  hear?: (text: string) => void
}

/** Runs to the end, the time-out or the signal, whichever is first; rejects only with the signal's reason. */
export async function longCommand(hands: Hands, { timeoutMs, signal, hear, ...command }: LongCommand): Promise<Said> {
  signal.throwIfAborted()
  const process = hands.spawn(command)
  let tail = ''
  const listen = (stream: NodeJS.ReadableStream): void => {
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => {
      tail = (tail + text).slice(-keptChars)
      hear?.(text)
    })
  }
  listen(process.stdout)
  listen(process.stderr)
  process.stdin.end()
  let late = false
  const stop = () => void process.kill(killGraceMs)
  const timer = setTimeout(() => {
    late = true
    stop()
  }, timeoutMs)
  signal.addEventListener('abort', stop, { once: true })
  const { code } = await process.ended
  clearTimeout(timer)
  signal.removeEventListener('abort', stop)
  signal.throwIfAborted()
  return { code: late ? null : (code ?? 128), tail }
}

/** The last lines, for a detail that people read. Of a line that was written over, what it said last. */
export const lastLines = (text: string, lines = 20): string =>
  text
    .trim()
    .split('\n')
    .slice(-lines)
    .map((line) => line.trimEnd().split('\r').at(-1) ?? '')
    .join('\n')
