/*
 * A persistent shell over one process with three pipes. Commands go in framed on its standard input; what they print
 * comes on its standard output in real order; its error stream carries only our results: mark, exit code and folder.
 * A mark of random letters, new for each command, ends both: so the end of a command is known at once, without looking
 * at a screen, and nothing that a command prints can be taken for it.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Process, Shell, ShellCommand, ShellOptions, ShellResult } from './driver.ts'
import { SandboxGone, ShellBusy } from './driver.ts'
import { ShellLog } from './shell-log.ts'
import { MarkFinder, ShellOutput } from './shell-output.ts'
import { frame, shellArgv } from './shell-script.ts'
import type { Spawn } from './worker.ts'

type Wait = Omit<ShellCommand, 'command' | 'env'>
type How = Pick<ShellResult, 'end' | 'exitCode'>

/** One shell process. */
interface Open {
  process: Process
  secret: string
  marks: MarkFinder
  results: string
  /** Its number inside; undefined until the first result. */
  pid: number | undefined
}

/** The command under way. */
interface Running {
  mark: string
  /** Resolves when the shell is about to execute it. */
  begun: Promise<void>
  begin: () => void
  /** Set by its result; the end counts when the output's mark has come too. */
  exitCode: number | undefined
  marked: boolean
  ended: Promise<How>
  end: (how: How) => void
}

const graceMs = 2_000
/** Milliseconds between signals, which are sent again: a program that is only just being started does not keep the first. */
const repeats = [20, 50, 100, 200, 400, 1_230] as const
const resultLimit = 64 * 1024

const environment = { PAGER: 'cat', GIT_PAGER: 'cat', MANPAGER: 'cat', TERM: 'dumb', DEBIAN_FRONTEND: 'noninteractive' }

/**
 * Rejects with `SandboxGone` when the sandbox is not running.
 * @param notes Folder inside for what does not fit in an answer.
 */
export async function openShell(spawn: Spawn, options: ShellOptions, notes: string): Promise<Shell> {
  const shell = new PersistentShell(spawn, options, notes)
  const ready = await shell.run({ command: ':', timeoutMs: 10_000 })
  if (ready.end === 'exited') return shell
  await shell.close()
  throw new SandboxGone(`the shell did not start: ${ready.output.trim() || ready.end}`)
}

class PersistentShell implements Shell {
  readonly #spawn: Spawn
  readonly #env: Record<string, string>
  readonly #log: ShellLog
  readonly #output = new ShellOutput()
  #cwd: string
  #taken = 0
  /** Undefined when the last one has ended: the next command opens another. */
  #open: Open | undefined
  #running: Running | null = null
  /** Of which the last result said that it runs on. */
  #left: Running | null = null
  #listener: (text: string) => void = () => undefined
  #closed = false

  constructor(spawn: Spawn, { cwd, env }: ShellOptions, notes: string) {
    this.#spawn = spawn
    this.#env = { ...environment, ...env }
    this.#cwd = cwd
    this.#log = new ShellLog(spawn, notes)
  }

  get busy(): boolean {
    return this.#running !== null
  }

  get awaited(): boolean {
    return this.busy || this.#left !== null
  }

  async run({ command, env, ...wait }: ShellCommand): Promise<ShellResult> {
    if (this.#running !== null) throw new ShellBusy('a command is running in this shell')
    if (this.#closed) throw new SandboxGone('the shell is closed')
    const mark = randomBytes(12).toString('hex')
    const open = (this.#open ??= this.#start())
    const text = frame(open.secret, mark, command, env)
    const { promise: ended, resolve: end } = Promise.withResolvers<How>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    this.#running = { mark, begun, begin, exitCode: undefined, marked: false, ended, end }
    open.marks.expect(mark)
    open.process.stdin.write(text)
    return this.wait(wait)
  }

  async wait({ onOutput, timeoutMs, quietMs, waitMs, signal }: Wait): Promise<ShellResult> {
    const running = this.#running ?? this.#left
    if (running === null) return this.#result({ end: 'exited', exitCode: null })
    const stop = Promise.withResolvers<How>()
    const hard = timer(timeoutMs, () => stop.resolve({ end: 'timed_out', exitCode: null }))
    const goesOn = () => stop.resolve({ end: 'running', exitCode: null })
    const quiet = timer(quietMs, goesOn)
    const patience = timer(waitMs, goesOn)
    const interrupt = () => stop.resolve({ end: 'interrupted', exitCode: null })
    this.#listener = (text) => {
      quiet?.refresh()
      onOutput?.(text)
    }
    if (signal?.aborted) interrupt()
    else signal?.addEventListener('abort', interrupt, { once: true })
    const how = await Promise.race([running.ended, stop.promise])
    clearTimeout(hard)
    clearTimeout(quiet)
    clearTimeout(patience)
    signal?.removeEventListener('abort', interrupt)
    if (how.end === 'timed_out' || how.end === 'interrupted') await this.#interrupt(running)
    this.#listener = () => undefined
    this.#left = how.end === 'running' ? running : null
    const result = this.#result(how)
    await this.#log.settled()
    return result
  }

  async input(text: string): Promise<void> {
    const stdin = this.#open?.process.stdin
    if (this.#running === null || stdin === undefined) throw new Error('no command is running that could read this')
    await new Promise<void>((resolve, reject) => stdin.write(text, (error) => (error ? reject(error) : resolve())))
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#open?.process.kill(0)
    await this.#log.settled()
  }

  #start(): Open {
    const secret = randomBytes(12).toString('hex')
    const process = this.#spawn({ argv: shellArgv(secret, this.#cwd), cwd: '/', env: this.#env })
    const open: Open = { process, secret, marks: new MarkFinder(), results: '', pid: undefined }
    process.stdin.on('error', () => undefined) // its end is told by `ended`
    process.stdout.on('data', (chunk: Buffer) => this.#printed(open, chunk))
    process.stderr.setEncoding('utf8').on('data', (text: string) => this.#reported(open, text))
    const drained = new Promise<void>((resolve) => process.stdout.on('close', resolve))
    void process.ended.then(async ({ reason }) => {
      await Promise.race([drained, sleep(graceMs, undefined, { ref: false })])
      if (reason !== undefined) this.#printed(open, Buffer.from(`\n[the shell was ended: ${reason}]\n`))
      this.#died(open)
    })
    return open
  }

  #printed(open: Open, chunk: Buffer): void {
    const { output, found } = open.marks.add(chunk)
    const text = this.#output.add(output)
    if (!this.#log.add(output)) {
      open.process.stdout.pause()
      this.#log.whenReady(() => open.process.stdout.resume())
    }
    if (text !== '') this.#listener(text)
    if (!found || this.#running === null) return
    this.#running.marked = true
    this.#endIfDone(this.#running)
  }

  #reported(open: Open, text: string): void {
    open.results = (open.results + text).slice(-resultLimit)
    const running = this.#running
    if (running !== null && open.results.includes(`${running.mark}\x1d`)) running.begin()
    const at = running === null ? -1 : open.results.indexOf(`${running.mark} `)
    const end = open.results.indexOf('\x1e', Math.max(at, 0))
    if (running === null || at < 0 || end < 0) return
    const [code = '', pid, ...folder] = open.results.slice(at + running.mark.length + 1, end).split(' ')
    open.results = ''
    open.pid = Number(pid)
    this.#cwd = folder.join(' ')
    running.exitCode = Number(code)
    this.#endIfDone(running)
  }

  #endIfDone(running: Running): void {
    if (running.exitCode === undefined || !running.marked) return
    this.#running = null
    running.end({ end: 'exited', exitCode: running.exitCode })
  }

  #died(open: Open): void {
    if (open !== this.#open) return
    this.#open = undefined
    const running = this.#running
    this.#running = null
    running?.end({ end: 'died', exitCode: null })
  }

  /** Everything below the shell is asked to end, then made to; when nothing helps (a loop of the shell itself), the shell too. */
  async #interrupt(running: Running): Promise<void> {
    const over = running.ended.then(() => true)
    const within = (ms: number) => Promise.race([over, sleep(ms, false, { ref: false })])
    await Promise.race([running.begun, within(graceMs)])
    for (const name of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
      await this.#interruptShell()
      for (const pause of repeats) {
        await this.#open?.process.interruptChildren(name)
        if (await within(pause)) return
      }
    }
    await this.#open?.process.kill(0)
    await running.ended
  }

  /**
   * Before its children, so that it does not go on with the next part of the command when the first has ended.
   */
  async #interruptShell(): Promise<void> {
    const pid = this.#open?.pid
    if (pid === undefined) return
    const kill = this.#spawn({
      argv: ['/bin/sh', '-c', 'kill -INT "$1"', 'sh', String(pid)],
      cwd: '/',
    })
    kill.stdin.end()
    kill.stdout.resume()
    kill.stderr.resume()
    await Promise.race([kill.ended, sleep(graceMs, undefined, { ref: false })])
    // A `read` of the shell itself goes on waiting for the end of its line. Whatever is not read is skipped later.
    this.#open?.process.stdin.write('\n')
  }

  #result(how: How): ShellResult {
    const { text, length } = this.#output.take()
    const from = this.#taken
    this.#taken = this.#log.size
    const log = { path: this.#log.path, from, to: this.#log.size }
    return { ...how, output: text, outputLength: length, log, cwd: this.#cwd }
  }
}

const timer = (ms: number | null | undefined, then: () => void) =>
  ms === null || ms === undefined ? undefined : setTimeout(then, ms)
