import { open, type FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command, Layout, Process, SandboxSpec } from '../driver.ts'
import type { Meta } from '../folder.ts'
import { baseEnv, fileLimits, initScript, inside } from '../inside.ts'
import { bubblewrapArguments, fds, type Walls } from './bubblewrap.ts'
import type { SandboxGroup } from './cgroup.ts'
import { type Door, enter, launch, seenAt } from './enter.ts'
import type { Child, Exit, ForkServer } from './fork-server.ts'
import { endWithAll, namespaceGroup } from './plain-group.ts'
import { spawner } from './spawner.ts'

export interface Opening {
  meta: Meta
  /** It waits for the tenant it will belong to: see `belong`. */
  spare: boolean
  folder: string
  runtime: string
  walls: Omit<Walls, 'folders'>
  /** Undefined: limits by `ulimit`, groups by looking. */
  group: SandboxGroup | undefined
  forks: ForkServer
  signal: AbortSignal
}

/** One that runs, and the way into it. */
export interface RunningSandbox {
  readonly layout: Layout
  readonly group: SandboxGroup
  spawn(command: Command): Process
  /** Makes a spare one that of this tenant, before anything was spawned in it. */
  belong(spec: SandboxSpec): void
  /** Ends all that was spawned, for this reason. */
  endAll(reason: string): Promise<void>
  running(): boolean
  /** Resolves when its first process has ended, with what that said. */
  readonly ended: Promise<string>
  close(): Promise<void>
}

const startDeadlineMs = 15_000
/** Whoever began it is gone when it was not told its name: nobody would end it. */
const named = '[ -s /.parley ] || exit 1\n'

/** Resolves when a program can be started inside and the way out listens. */
export async function openSandbox(opening: Opening): Promise<RunningSandbox> {
  const { meta, folder, runtime, walls } = opening
  const limits = shellLimits(meta, opening.group === undefined ? ['memory', 'processes'] : [])
  const { forks } = opening
  const info = Promise.withResolvers<number>()
  const child = launch({
    joins: opening.group?.joins ?? [],
    uid: meta.uid,
    folder,
    runtime,
    forks,
    pipes: 3,
    onText: infoReader(info.resolve),
    program: ['/usr/bin/bwrap', '--args', String(fds.args), '--', '/bin/sh', '-c', `${named}${initScript(limits)}`],
  })
  child.stdin.end()
  const said = listen(child)
  const list = bubblewrapArguments({ ...walls, folders: foldersAt(seenAt(folder, runtime)) })
  child.write(fds.args, `${list.join('\0')}\0`)
  let held: FileHandle | undefined
  const door: Door = { pid: 0, userNamespace: 0, forks }
  const group = opening.group ?? namespaceGroup(() => door.pid || undefined, forks.pid)
  let tenant = opening.spare ? undefined : meta.spec
  let running = true
  const hand = spawner({
    group,
    enter: (mine) => enter(door, mine),
    limits,
    env: baseEnv(),
    cwd: inside.workspace,
    tenant: () => tenant,
    running: () => running,
  })
  const ended = child.ended.then((exit) => {
    running = false
    return said.error() || howOf(exit)
  })
  const close = async () => {
    hand.close()
    // Process 1 first: with it the kernel ends all the others, and bubblewrap is there to take note of its end.
    if (running && door.pid > 0) {
      process.kill(door.pid, 'SIGKILL')
      await group.freeze(false).catch(() => undefined)
      await Promise.race([ended, sleep(1_000, undefined, { ref: false })])
    }
    await child.started
    if (running && door.pid === 0 && child.pid !== undefined) await endWithAll(child.pid).catch(() => undefined)
    child.kill('SIGKILL')
    await group.kill()
    await ended
    await held?.close()
    held = undefined
  }
  try {
    await withDeadline(opening.signal, ended, async () => {
      door.pid = await info.promise
      held = await open(`/proc/${door.pid}/ns/user`)
      door.userNamespace = held.fd
      child.write(fds.gate, `${meta.spec.id}\n`)
      await said.up
      hand.fill()
      await said.ready
    })
  } catch (error) {
    await close()
    throw error
  }
  const belong = (spec: SandboxSpec) => {
    tenant = spec
    hand.fill() // it may have waited for so long that it was let go
  }
  const { spawn, endAll } = hand
  return { layout: inside, group, running: () => running, ended, close, belong, spawn, endAll }
}

function foldersAt({ folder, runtime }: ReturnType<typeof seenAt>): Walls['folders'] {
  const at = (name: string) => `${folder}/${name}`
  return { etc: at('etc'), tmp: at('tmp'), home: at('home'), workspace: at('workspace'), runtime }
}

/**
 * Limits of single processes, in POSIX shell. The size of one file is always bounded; the rest only where no control
 * group does it better: of memory what is written to, since many programs reserve far more addresses than they use.
 * `ulimit -p` is dash's name for what bash calls `-u`.
 */
export function shellLimits({ spec: { limits } }: Meta, also: readonly ('memory' | 'processes')[]): string {
  const { memory, processes } = limits
  const texts = {
    memory: `ulimit -d ${Math.ceil(memory / 1024)}`,
    processes: `{ ulimit -u ${processes} || ulimit -p ${processes}; } 2>/dev/null`,
  }
  return [fileLimits(limits), ...also.map((one) => texts[one])].join('; ')
}

const howOf = ({ code, signal, error }: Exit) => error ?? `ended with ${signal ?? `code ${code}`}`

/** Finds the number of process 1 in what bubblewrap says of itself. */
function infoReader(found: (pid: number) => void): (fd: number, text: string) => void {
  let info = ''
  return (fd, text) => {
    if (fd !== fds.info) return
    info = (info + text).slice(0, 4096)
    if (info.includes('}')) found((JSON.parse(info) as { 'child-pid': number })['child-pid'])
  }
}

/** What is said on the way: that process 1 runs, that the way out listens, and the last complaints. */
function listen(child: Child) {
  let complaint = ''
  const [up, ready] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let told = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    told = (told + text).slice(-100)
    if (told.includes('up\n')) up.resolve()
    if (told.includes('ready\n')) ready.resolve()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-2000)))
  return { up: up.promise, ready: ready.promise, error: () => complaint.trim() }
}

export async function withDeadline(
  signal: AbortSignal,
  ended: Promise<string>,
  work: () => Promise<void>,
): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(startDeadlineMs)])
  limit.throwIfAborted()
  const stopped = Promise.withResolvers<never>()
  const abort = () => stopped.reject(limit.reason)
  limit.addEventListener('abort', abort, { once: true })
  const failed = ended.then((said) => Promise.reject(new Error(`the sandbox did not start: ${said}`)))
  try {
    await Promise.race([work(), stopped.promise, failed])
  } finally {
    limit.removeEventListener('abort', abort)
    failed.catch(() => undefined)
  }
}
