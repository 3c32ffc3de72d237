import { randomBytes } from 'node:crypto'
import { PassThrough, type Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, type Process, SandboxGone } from '../driver.ts'
import { type Entrant, keepWarm } from '../warm.ts'
import type { Control } from './control.ts'
import type { Exec } from './exec.ts'
import { fedInto } from './feed.ts'
import { entryArgv, framed, orderText } from './inner.ts'

type Ended = Awaited<Process['ended']>

/** How the engine runs a program in the container. */
export type Enter = (argv: readonly string[], terminal: boolean) => Promise<Exec>

export interface Spawner {
  spawn(command: Command): Process
  /** Sends one process ahead. */
  warm(): void
  /** Ends all that was spawned, for this reason. */
  endAll(reason: string): Promise<void>
  /** Resolves when nothing is on its way in: what enters a container while it freezes never arrives. */
  hold(): Promise<void>
  release(): void
  close(): void
}

export interface SpawnerParts {
  enter: Enter
  control: Control
  workingDir: string
  /** Variables of every program, as they are when it is started. */
  env: () => Record<string, string>
  /** `ulimit` commands. */
  limits: string
  /** The engine cannot say that a program's input has ended: it is told inside (`feed.ts`). */
  fed?: boolean
  /** Called when something inside could not be ended in any other way than with the whole sandbox. */
  giveUp: () => void
}

/** A process inside that has said its number, and waits for its order or carries it out. */
interface Entered extends Entrant {
  mark: string
  exec: Promise<Exec>
  pid: Promise<number>
}

interface Endable extends Process {
  endFor(reason: string): Promise<void>
}

const stuckMs = 10_000
const longestHead = 1_000

export function spawner(parts: SpawnerParts): Spawner {
  const { workingDir, limits } = parts
  const alive = new Set<Endable>()
  const onTheWay = new Set<Promise<unknown>>()
  let held = false
  const enter = (order?: string) => {
    if (held) throw new SandboxGone('the sandbox is paused')
    const one = entered(parts, order)
    const there: Promise<unknown> = one.pid.catch(() => undefined).then(() => onTheWay.delete(there))
    onTheWay.add(there)
    return one
  }
  const warm = keepWarm(() => enter())
  return {
    spawn(command) {
      const env = { ...parts.env(), ...command.env }
      const order = orderText({ ...command, env, cwd: command.cwd ?? workingDir }, limits)
      const terminal = command.terminal !== undefined
      const one = asProcess(terminal ? enter(order) : warm.take(), terminal ? '' : framed(order), command, parts)
      alive.add(one)
      void one.ended.then(() => alive.delete(one))
      return one
    },
    warm: () => warm.fill(),
    async endAll(reason) {
      await Promise.all([...alive].map((one) => one.endFor(reason)))
    },
    async hold() {
      held = true
      await Promise.all(onTheWay)
    },
    release() {
      held = false
    },
    close: () => warm.close(),
  }
}

/** With an order: in a terminal, and at once. */
function entered({ enter, fed }: SpawnerParts, order?: string): Entered {
  const mark = randomBytes(12).toString('hex')
  const exec = enter(entryArgv(mark, order, fed && order === undefined), order !== undefined)
  const pid = exec.then((one) => headOf(order === undefined ? one.stderr : one.stdout, mark))
  let over = false
  const end = () => (over = true)
  pid.catch(end)
  exec.then((one) => one.ended.then(end)).catch(end)
  return {
    mark,
    exec,
    pid,
    usable: () => !over,
    dismiss: () => void exec.then((one) => one.stdin.end()).catch(() => undefined),
  }
}

/** The number in `<mark> <number>;`, which comes before everything else. */
function headOf(stream: Readable, mark: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let seen = Buffer.alloc(0)
    const refuse = () => {
      stream.off('data', read).resume()
      reject(new Error(`the sandbox said: ${seen.toString().slice(0, 300)}`))
    }
    const read = (chunk: Buffer) => {
      seen = Buffer.concat([seen, chunk])
      const end = seen.indexOf(';')
      if (end < 0) return void (seen.length > longestHead && refuse())
      stream.off('data', read).pause()
      const [said, pid] = seen.subarray(0, end).toString().split(' ')
      if (end + 1 < seen.length) stream.unshift(seen.subarray(end + 1))
      if (said === mark) resolve(Number(pid))
      else refuse()
    }
    stream.on('data', read).on('end', refuse)
  })
}

function asProcess({ mark, exec, pid }: Entered, order: string, command: Command, parts: SpawnerParts): Endable {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined) // `ended` tells
  const { promise: ended, resolve } = Promise.withResolvers<Ended>()
  let over = false
  let killedBy: string | undefined
  let reason: string | undefined
  let size = command.terminal
  const finish = (code: number) => {
    if (over) return
    over = true
    command.signal?.removeEventListener('abort', abort)
    const how = killedBy === undefined ? { code, signal: null } : { code: null, signal: killedBy }
    resolve({ ...how, ...(reason !== undefined && { reason }) })
  }
  const begin = async () => {
    const one = await exec
    await pid
    one.stdin.on('error', () => undefined)
    if (order !== '') one.stdin.write(order)
    stdin.pipe(parts.fed && command.terminal === undefined ? fedInto(one.stdin) : one.stdin)
    one.stdout.pipe(stdout)
    one.stderr.pipe(stderr)
    if (size !== undefined) one.resize(size.columns, size.rows)
    const code = await one.ended
    if (one.lost?.()) void send('all', 'SIGKILL')
    finish(code)
  }
  const begun = begin().catch((error: unknown) => {
    reason ??= error instanceof Error ? error.message : String(error)
    stdout.end()
    stderr.end()
    finish(127)
  })
  const send = async (verb: 'all' | 'below', name: string) => {
    await parts.control.signal(verb, await pid, mark, name).catch(() => undefined) // it has ended, or the sandbox has
  }
  const within = (ms: number) => Promise.race([ended, sleep(ms, undefined, { ref: false })])
  const kill = async (graceMs = 2_000): Promise<void> => {
    if (!over && graceMs > 0) {
      killedBy ??= 'SIGTERM'
      await send('all', 'SIGTERM').catch(() => undefined)
      await within(graceMs)
    }
    if (!over) {
      killedBy = 'SIGKILL'
      await send('all', 'SIGKILL').catch(() => undefined)
      await within(stuckMs)
    }
    if (!over) {
      parts.giveUp()
      void exec.then((one) => one.drop())
    }
    await ended
    await begun
  }
  const abort = () => void kill()
  if (command.signal?.aborted) abort()
  else command.signal?.addEventListener('abort', abort, { once: true })
  return {
    stdin,
    stdout,
    stderr,
    ended,
    kill,
    endFor(why) {
      if (!over) reason = why
      return kill(0)
    },
    interruptChildren: (name) => (over ? Promise.resolve() : send('below', name)),
    resize(columns, rows) {
      size = { columns, rows }
      void pid
        .then(() => exec)
        .then(
          (one) => one.resize(columns, rows),
          () => undefined,
        )
    },
  }
}
