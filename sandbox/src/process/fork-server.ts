/*
 * Programs are started by a small process beside the server. A fork copies the tables of all the memory of whoever forks, and
 * holds it up meanwhile: some ten milliseconds for a server with a few hundred MiB, under one for a process that has nothing.
 *
 * A program's three streams are connections to that process's socket, so they are there at once and what is written to them
 * waits; what it is to start is told on the channel between the two. Both keep their order, and that is what joins them.
 * It ends with the server, and what it started ends with it.
 */
import { fork } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Printed } from '../disk.ts'
import { SandboxGone } from '../driver.ts'
import { sealDescriptors } from './descriptors.ts'

export interface ProgramToStart {
  program: string
  args: readonly string[]
  env: Record<string, string>
  /** Descriptors from 3 on that are open both ways: text is written with `write` and heard with `onText`. None unless said. */
  pipes?: number
  onText?: (fd: number, text: string) => void
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
  /** Why it could not be started. */
  error?: string
}

export interface Child {
  readonly stdin: Socket
  readonly stdout: Socket
  readonly stderr: Socket
  /** As this machine numbers it; undefined until it runs, and when it could not be started. */
  readonly pid: number | undefined
  /** Resolves when `pid` is known, or never will be. */
  readonly started: Promise<void>
  /** Undefined until it has ended. */
  readonly exit: Exit | undefined
  /** Resolves when it has ended; its output may not all be read by then. */
  readonly ended: Promise<Exit>
  /** Writes to one of its `pipes` and closes it. */
  write(fd: number, text: string): void
  kill(signal: NodeJS.Signals): void
}

export interface ForkServer {
  /**
   * Resolves when programs can be started; starts the process again when it has ended. Rejects after 10 s, and with
   * `SandboxGone` once this was closed.
   */
  ready(): Promise<void>
  /** Throws `SandboxGone` when the process has ended: with it has whatever it had started. */
  start(wants: ProgramToStart): Child
  /** Resolves with whether the program ended well; what it prints is not read. */
  run(argv: readonly [string, ...string[]]): Promise<boolean>
  /** Resolves with what the program prints on standard output, whatever its exit code; undefined when it takes too long. */
  printed: Printed
  /** Number of the process, which is the parent of all it starts. */
  pid(): number | undefined
  close(): Promise<void>
}

type Heard =
  | { listening: true }
  | { id: number; pid: number }
  | { id: number; failed: string }
  | { id: number; fd: number; text: string }
  | { id: number; code: number | null; signal: NodeJS.Signals | null }

/** All that a program of this machine has of the server's variables. */
export const cleanEnv = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' }

const startDeadlineMs = 10_000
const closeDeadlineMs = 2_000
const main = fileURLToPath(new URL('fork-server-main.mjs', import.meta.url))
/** It needs next to nothing, and what it has it copies at each fork. */
const small = ['--max-semi-space-size=1', '--max-old-space-size=64', '--v8-pool-size=1']

/** @param path Of its socket, in a folder that is closed to others. */
export function forkServer(path: string): ForkServer {
  let opening: Promise<Running> | undefined
  let running: Running | undefined
  let closed = false
  const ready = async () => {
    if (running?.isUp() === true) return
    if (closed) throw new SandboxGone('no programs are started any more')
    opening ??= open(path).finally(() => (opening = undefined))
    running = await opening
  }
  const start = (wants: ProgramToStart) => {
    if (closed || running?.isUp() !== true) throw new SandboxGone('the sandbox has ended')
    return running.start(wants)
  }
  /** A program that is told nothing. */
  const alone = async ([program, ...args]: readonly [string, ...string[]]) => {
    await ready()
    const child = start({ program, args, env: cleanEnv })
    child.stdin.end()
    return child
  }
  return {
    ready,
    start,
    async printed(argv, timeoutMs) {
      const child = await alone(argv)
      const late = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
      const said = await text(child.stdout).catch(() => '')
      clearTimeout(late)
      return said === '' ? undefined : said
    },
    run: async (argv) => (await (await alone(argv)).ended).code === 0,
    pid: () => running?.pid,
    async close() {
      closed = true
      await opening?.catch(() => undefined)
      await running?.close()
      await rm(path, { force: true })
    },
  }
}

interface Running {
  pid: number | undefined
  isUp(): boolean
  start(wants: ProgramToStart): Child
  close(): Promise<void>
}

async function open(path: string): Promise<Running> {
  await rm(path, { force: true })
  const seal = await sealDescriptors()
  const server = fork(main, [path], {
    execArgv: small,
    env: cleanEnv,
    // A group of its own: a Ctrl-C is for the server, which ends its sandboxes in good order.
    detached: true,
    stdio: seal.stdio(['ignore', 'ignore', 'inherit', 'ipc']),
  })
  const children = new Map<number, Started>()
  const up = Promise.withResolvers<void>()
  let isUp = true
  const down = (why: string) => {
    isUp = false
    up.reject(new Error(`what starts programs ${why}`))
    for (const child of children.values()) child.over({ code: null, signal: 'SIGKILL' })
    children.clear()
  }
  server.on('error', (error) => down(`cannot be started: ${error.message}`))
  server.on('exit', (code, signal) => down(`has ended with ${signal ?? `code ${code}`}`))
  server.on('message', (heard: Heard) => {
    if ('listening' in heard) return up.resolve()
    const child = children.get(heard.id)
    if (child === undefined) return
    if ('pid' in heard) child.runs(heard.pid)
    else if ('text' in heard) child.heard(heard.fd, heard.text)
    else {
      children.delete(heard.id)
      if ('failed' in heard) child.over({ code: 127, signal: null, error: heard.failed })
      else child.over({ code: heard.code, signal: heard.signal })
    }
  })
  const late = setTimeout(() => server.kill('SIGKILL'), startDeadlineMs)
  await up.promise.finally(() => Promise.all([clearTimeout(late), seal.close()]))
  let last = 0
  return {
    pid: server.pid,
    isUp: () => isUp,
    start({ onText, pipes = 0, ...wants }) {
      const id = ++last
      const child = started(path, onText, (message) => void (isUp && server.send({ id, ...message })))
      children.set(id, child)
      server.send({ id, pipes, ...wants })
      return child.child
    },
    async close() {
      if (!isUp) return
      // Whoever asks for a program from here on is told at once: what is said on a channel that closes is lost.
      isUp = false
      const gone = new Promise((resolve) => server.once('exit', resolve))
      server.disconnect()
      const late = setTimeout(() => server.kill('SIGKILL'), closeDeadlineMs)
      await gone
      clearTimeout(late)
    },
  }
}

interface Started {
  child: Child
  runs(pid: number): void
  heard(fd: number, text: string): void
  over(exit: Exit): void
}

function started(path: string, onText: ProgramToStart['onText'], say: (message: object) => void): Started {
  const [stdin, stdout, stderr] = [connect(path), connect(path), connect(path)]
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined) // the other end has gone: `ended` says so
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<Exit>()
  const now: { pid: number | undefined; exit: Exit | undefined } = { pid: undefined, exit: undefined }
  return {
    child: {
      stdin,
      stdout,
      stderr,
      get pid() {
        return now.pid
      },
      get exit() {
        return now.exit
      },
      started: begun.promise,
      ended: ended.promise,
      write: (fd, text) => say({ fd, text }),
      kill: (signal) => say({ kill: signal }),
    },
    runs(pid) {
      now.pid = pid
      begun.resolve()
    },
    heard: (fd, text) => onText?.(fd, text),
    over(exit) {
      now.exit = exit
      begun.resolve()
      ended.resolve(exit)
      stdin.destroy()
      // What nobody reads keeps no connection open.
      for (const stream of [stdout, stderr]) if (stream.readableFlowing === null) stream.resume()
    },
  }
}
