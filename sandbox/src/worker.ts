/*
 * `run` over shells that are kept open: a new process per command would cost several times the command. A worker is a
 * POSIX `sh` that reads commands on its standard input and runs each in a subshell, so nothing stays from one to the
 * next. A marker of random letters, new for each command, stands before and after each of the two outputs.
 */
import { randomBytes } from 'node:crypto'
import { Cut } from './cut.ts'
import type { Command, Process, RunCommand, RunResult } from './driver.ts'
import { SandboxGone } from './driver.ts'
import { exports, quote } from './quote.ts'

export type Spawn = (command: Command) => Process

const defaultMaxBytes = 8 * 2 ** 20
const maxIdle = 2
const maxWorkers = 8
/** An idle worker is let go after this time: most sandboxes wait for a model or a person most of the time. */
const idleMs = 30_000

interface Worker {
  process: Process
  /** Runs while it is idle. */
  timer: NodeJS.Timeout | undefined
  /** Null between commands. */
  taking: Taking | null
}

/** The outputs of one command, as they come. */
interface Taking {
  stdout: Cut
  stderr: Cut
  /** The worker has ended, and why when that is known. */
  reason?: string | undefined
  /** With undefined: the worker has ended. */
  done: (code: number | undefined) => void
}

/** `Hands.run`, on at most 8 shells; further commands wait for one. */
export function runOverWorkers(spawn: Spawn): (command: RunCommand) => Promise<RunResult> {
  const idle: Worker[] = []
  const waiting: (() => void)[] = []
  let busy = 0

  const forget = (worker: Worker) => {
    const at = idle.indexOf(worker)
    if (at >= 0) idle.splice(at, 1)
    clearTimeout(worker.timer)
  }
  const keep = (worker: Worker) => {
    idle.push(worker)
    worker.timer = setTimeout(() => {
      forget(worker)
      worker.process.stdin.end()
    }, idleMs).unref()
  }
  const take = async (): Promise<Worker> => {
    while (busy >= maxWorkers) await new Promise<void>((resolve) => waiting.push(resolve))
    busy++
    try {
      const worker = idle.pop()
      clearTimeout(worker?.timer)
      return worker ?? openWorker(spawn, forget)
    } catch (error) {
      give(undefined)
      throw error
    }
  }
  const give = (worker: Worker | undefined) => {
    busy--
    if (worker !== undefined && idle.length < maxIdle) keep(worker)
    else worker?.process.stdin.end()
    waiting.shift()?.()
  }

  return async (command) => {
    command.signal?.throwIfAborted()
    if (command.stdin !== undefined) return runOnce(spawn, command, command.stdin)
    const text = textOf(command)
    const worker = await take()
    const result = await runOn(worker, text, command).catch((error: unknown) => {
      give(undefined)
      throw error
    })
    const usable = worker.taking === null && !result.timedOut
    give(usable ? worker : undefined)
    return result
  }
}

function openWorker(spawn: Spawn, gone: (worker: Worker) => void): Worker {
  const process = spawn({ argv: ['/bin/sh'], cwd: '/' })
  const worker: Worker = { process, timer: undefined, taking: null }
  process.stdin.on('error', () => undefined)
  process.stdout.on('data', (chunk: Buffer) => worker.taking?.stdout.add(chunk))
  process.stderr.on('data', (chunk: Buffer) => worker.taking?.stderr.add(chunk))
  void process.ended.then(({ reason }) => {
    gone(worker)
    if (worker.taking !== null) worker.taking.reason = reason
    worker.taking?.done(undefined)
  })
  return worker
}

/** A script as one shell command in a subshell. */
function textOf({ script, args = [], env = {}, cwd }: RunCommand): string {
  const go = cwd === undefined ? '' : `cd -- ${quote(cwd)} || exit 126\n`
  return `(\n${exports(env)}${go}set -- ${args.map(quote).join(' ')}\neval ${quote(script)}\n) </dev/null`
}

async function runOn(worker: Worker, text: string, command: RunCommand): Promise<RunResult> {
  const name = randomBytes(12).toString('hex')
  const marker = Buffer.from(`\n${name} `)
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const max = command.maxBytes ?? defaultMaxBytes
  const both = () => {
    if (taking.stdout.code !== undefined && taking.stderr.code !== undefined) resolve(taking.stdout.code)
  }
  const taking: Taking = { stdout: new Cut(max, marker, both), stderr: new Cut(max, marker, both), done: resolve }
  worker.taking = taking
  const start = `printf '\\n%s ;' ${name}; printf '\\n%s ;' ${name} >&2\n`
  worker.process.stdin.write(
    `${start}${text}\nset -- $?; printf '\\n%s %s;' ${name} $1; printf '\\n%s %s;' ${name} $1 >&2\n`,
  )
  const ending = limitOf(command)
  const stop = () => void worker.process.kill(0)
  if (ending.signal.aborted) stop()
  else ending.signal.addEventListener('abort', stop, { once: true })
  const code = await promise
  ending.signal.removeEventListener('abort', stop)
  if (code !== undefined) worker.taking = null
  command.signal?.throwIfAborted()
  const { reason } = taking
  const timedOut = code === undefined && reason === undefined
  if (timedOut && !ending.timedOut()) throw new SandboxGone('the sandbox ended while a command ran')
  return {
    code: code ?? (timedOut ? 124 : 137),
    stdout: taking.stdout.kept(),
    stderr: withReason(taking.stderr, reason),
    truncated: taking.stdout.truncated || taking.stderr.truncated,
    timedOut,
  }
}

/** A command with input has a process of its own: what it leaves unread must not reach the next one. */
async function runOnce(spawn: Spawn, command: RunCommand, stdin: Uint8Array): Promise<RunResult> {
  const max = command.maxBytes ?? defaultMaxBytes
  const ending = limitOf(command)
  const { script, args = [], env, cwd } = command
  const process = spawn({
    argv: ['/bin/sh', '-c', script, 'sh', ...args],
    ...(env && { env }),
    ...(cwd !== undefined && { cwd }),
  })
  const stop = () => void process.kill(0)
  if (ending.signal.aborted) stop()
  else ending.signal.addEventListener('abort', stop, { once: true })
  const [stdout, stderr] = [new Cut(max), new Cut(max)]
  process.stdin.on('error', () => undefined).end(stdin)
  const read = [drain(process.stdout, stdout), drain(process.stderr, stderr)]
  const how = await process.ended
  await Promise.all(read)
  ending.signal.removeEventListener('abort', stop)
  command.signal?.throwIfAborted()
  const timedOut = ending.timedOut()
  return {
    code: timedOut ? 124 : (how.code ?? 137),
    stdout: stdout.kept(),
    stderr: withReason(stderr, how.reason),
    truncated: stdout.truncated || stderr.truncated,
    timedOut,
  }
}

const withReason = (stderr: Cut, reason: string | undefined) =>
  `${stderr.kept().toString()}${reason === undefined ? '' : `\n${reason}\n`}`

const drain = (stream: Process['stdout'], into: Cut) =>
  new Promise<void>((resolve) => {
    stream.on('data', (chunk: Buffer) => into.add(chunk))
    stream.on('close', resolve)
    stream.on('error', () => resolve())
  })

function limitOf({ signal, timeoutMs }: RunCommand) {
  const timer = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
  const signals = [signal, timer].filter((one) => one !== undefined)
  return { signal: AbortSignal.any(signals), timedOut: () => timer?.aborted === true && signal?.aborted !== true }
}
