import { open, type FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command, Process, SandboxSpec } from '../driver.ts'
import { SandboxGone } from '../driver.ts'
import type { Meta } from '../folder.ts'
import { baseEnv, fileLimits, initScript } from '../inside.ts'
import { quote } from '../quote.ts'
import { type Entrant, keepWarm } from '../warm.ts'
import { bubblewrapArguments, fds, type Walls } from './bubblewrap.ts'
import type { Group, SandboxGroup } from './cgroup.ts'
import { become, type Door, enter, launch, launchText, neverMind, seenAt, tell } from './enter.ts'
import type { Child, Exit, ForkServer } from './fork-server.ts'
import { endWithAll, namespaceGroup } from './plain-group.ts'
import { asProcess, type Endable } from './spawn.ts'

export interface Opening {
  meta: Meta
  /** It waits for the tenant it will belong to: see `belong`. */
  spare: boolean
  folder: string
  runtime: string
  walls: Omit<Walls, 'folders' | 'workingDir'>
  /** Undefined: limits by `ulimit`, groups by looking. */
  group: SandboxGroup | undefined
  forks: ForkServer
  signal: AbortSignal
}

/** One running bubblewrap and the way into it. */
export interface RunningSandbox {
  readonly group: SandboxGroup
  spawn(command: Command): Process
  /** Makes a spare one that of this tenant, before anything was spawned in it. */
  belong(spec: SandboxSpec): void
  /** Ends all that was spawned, for this reason. */
  endAll(reason: string): Promise<void>
  running(): boolean
  /** Resolves when process 1 has ended, with what bubblewrap said. */
  readonly ended: Promise<string>
  close(): Promise<void>
}

const startDeadlineMs = 15_000
/** Whoever began it is gone when it was not told its name: nobody would end it. */
const named = '[ -s /.parley ] || exit 1\n'

/** Resolves when a program can be started inside and the way out listens. */
export async function openSandbox(opening: Opening): Promise<RunningSandbox> {
  const { meta, folder, runtime, walls } = opening
  const seen = seenAt(folder, runtime)
  const at = (name: string) => `${seen.folder}/${name}`
  const folders = {
    etc: at('etc'),
    tmp: at('tmp'),
    home: at('home'),
    workspace: at('workspace'),
    runtime: seen.runtime,
  }
  const limits = shellLimits(meta, opening.group !== undefined)
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
  const list = bubblewrapArguments({ ...walls, folders, workingDir: meta.spec.workingDir })
  child.write(fds.args, `${list.join('\0')}\0`)
  let held: FileHandle | undefined
  const door: Door = { pid: 0, userNamespace: 0, forks }
  const group = opening.group ?? namespaceGroup(() => door.pid || undefined, forks.pid)
  const tenant = { spec: opening.spare ? undefined : meta.spec }
  const told = (child: Child, { workingDir, env }: SandboxSpec) =>
    tell(child, { limits, env: { ...baseEnv(workingDir), ...env } })
  const warm = keepWarm(() => {
    const mine = group.child()
    const { child, ...one } = entrant(enter(door, mine), mine)
    if (tenant.spec !== undefined) told(child, tenant.spec)
    return { ...one, child, told: tenant.spec !== undefined }
  })
  let running = true
  const ended = child.ended.then((exit) => {
    running = false
    return said.error() || howOf(exit)
  })
  const close = async () => {
    warm.close()
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
      warm.fill()
      await said.ready
    })
  } catch (error) {
    await close()
    throw error
  }
  const take = (spec: SandboxSpec) => {
    const one = warm.take()
    if (!one.told) told(one.child, spec)
    return one
  }
  const isRunning = () => running
  const belong = (spec: SandboxSpec) => {
    tenant.spec = spec
    warm.fill() // it may have waited for so long that it was let go
  }
  return { group, running: isRunning, ended, close, belong, ...spawner(tenant, take, isRunning) }
}

interface Tenant {
  spec: SandboxSpec | undefined
}

interface Entered extends Entrant {
  child: Child
  group: Group
}

/** A child on the way in. */
function entrant(child: Child, group: Group): Entered {
  return {
    child,
    group,
    usable: () => child.exit === undefined,
    dismiss() {
      void child.ended.then(() => group.remove().catch(() => undefined))
      neverMind(child)
    },
  }
}

function spawner(
  tenant: Tenant,
  take: (spec: SandboxSpec) => Entered,
  isOpen: () => boolean,
): Pick<RunningSandbox, 'spawn' | 'endAll'> {
  const alive = new Set<Endable>()
  return {
    spawn(command) {
      const { spec } = tenant
      if (!isOpen() || spec === undefined) throw new SandboxGone('the sandbox has ended')
      const argv = command.terminal === undefined ? command.argv : inTerminal(command.argv, command.terminal)
      const text = launchText({ argv, cwd: command.cwd ?? spec.workingDir, env: command.env ?? {} })
      const { child, group } = take(spec)
      become(child, text)
      const one = asProcess(child, group, command.signal)
      alive.add(one)
      void one.ended.then(() => alive.delete(one))
      return one
    },
    async endAll(reason) {
      await Promise.all([...alive].map((one) => one.endFor(reason)))
    },
  }
}

/** A pseudo-terminal made inside, so that its name means something there. */
function inTerminal(argv: readonly string[], { columns, rows }: { columns: number; rows: number }): Command['argv'] {
  const text = `stty rows ${Math.trunc(rows)} cols ${Math.trunc(columns)} 2>/dev/null; exec ${argv.map(quote).join(' ')}`
  return ['script', '-q', '-e', '-f', '-c', text, '/dev/null']
}

/**
 * Limits of single processes, in POSIX shell. The size of one file is always bounded; the rest only where no control
 * group does it better: of memory what is written to, since many programs reserve far more addresses than they use.
 * `ulimit -p` is dash's name for what bash calls `-u`.
 */
function shellLimits({ spec: { limits } }: Meta, grouped: boolean): string {
  const file = fileLimits(limits)
  if (grouped) return file
  return `${file}; ulimit -d ${Math.ceil(limits.memory / 1024)}; { ulimit -u ${limits.processes} || ulimit -p ${limits.processes}; } 2>/dev/null`
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

async function withDeadline(signal: AbortSignal, ended: Promise<string>, work: () => Promise<void>): Promise<void> {
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
