import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Hands } from '@parley/sandbox/driver'
import type { Clock } from '@parley/store/clock'

export interface HookCommand {
  command: string
  env: Record<string, string>
  cwd: string
  stdin: string
  timeoutMs: number
}

export interface Ran {
  /** -1 after the time-out, null when it could not be run or was stopped. */
  code: number | null
  stdout: string
  stderr: string
  error: string | null
}

/** Of each stream; what comes after it is dropped. */
const mostCharacters = 50_000
const graceMs = 1_000

/** Runs it with everything it starts; all of that is ended when the time is up or the signal says so. Never rejects. */
export async function runHook(
  hands: Hands,
  { command, env, cwd, stdin, timeoutMs }: HookCommand,
  clock: Clock,
  signal: AbortSignal,
): Promise<Ran> {
  const done = new AbortController()
  try {
    const process = hands.spawn({ argv: ['/bin/sh', '-c', command], env, cwd, signal })
    const [stdout, stderr] = [kept(process.stdout), kept(process.stderr)]
    process.stdin.on('error', () => {}) // a command need not read it
    process.stdin.end(stdin)
    const ended = process.ended.then(({ code }) => ({ code, late: false }))
    const late = clock.sleep(timeoutMs, done.signal).then(() => ({ code: -1, late: true }))
    const end = await Promise.race([ended, late])
    if (end.late) await process.kill(graceMs)
    const error = end.late ? `It took longer than ${timeoutMs / 1000} s.` : signal.aborted ? 'It was stopped.' : null
    return { code: signal.aborted && !end.late ? null : end.code, stdout: stdout(), stderr: stderr(), error }
  } catch (error) {
    return { code: null, stdout: '', stderr: '', error: error instanceof Error ? error.message : String(error) }
  } finally {
    done.abort()
  }
}

function kept(stream: Readable): () => string {
  const decoder = new StringDecoder('utf8')
  let text = ''
  stream.on('data', (piece: Buffer) => {
    if (text.length < mostCharacters) text = (text + decoder.write(piece)).slice(0, mostCharacters)
  })
  stream.on('error', () => {})
  return () => text
}
