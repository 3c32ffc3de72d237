import type { Command, Process, SandboxSpec } from '../driver.ts'
import { SandboxGone } from '../driver.ts'
import { quote } from '../quote.ts'
import { type Entrant, keepWarm } from '../warm.ts'
import type { Group, SandboxGroup } from './cgroup.ts'
import { become, launchText, neverMind, tell } from './enter.ts'
import type { Child } from './fork-server.ts'
import { asProcess, type Endable } from './spawn.ts'

/** What is to know of a sandbox to start programs in it. */
export interface Place {
  group: SandboxGroup
  /** Starts a program that waits for `tell` and `become`. */
  enter(group: Group): Child
  /** `ulimit` commands, with `;` between them. */
  limits: string
  /** Variables of every program, beside those of the spec. */
  env: Record<string, string>
  /** Folder of a program that names none. */
  cwd: string
  /** Undefined while it is nobody's: nothing can be spawned then. */
  tenant(): SandboxSpec | undefined
  running(): boolean
}

export interface Spawner {
  spawn(command: Command): Process
  /** Ends all that was spawned, for this reason. */
  endAll(reason: string): Promise<void>
  /** Sends a program ahead, unless one is there. */
  fill(): void
  close(): void
}

interface Entered extends Entrant {
  child: Child
  group: Group
  told: boolean
}

export function spawner({ group, enter, limits, env, cwd, tenant, running }: Place): Spawner {
  const alive = new Set<Endable>()
  const told = (child: Child, spec: SandboxSpec) => tell(child, { limits, env: { ...env, ...spec.env } })
  const warm = keepWarm(() => {
    const mine = group.child()
    const one = entrant(enter(mine), mine)
    const spec = tenant()
    if (spec !== undefined) told(one.child, spec)
    return { ...one, told: spec !== undefined }
  })
  const take = (spec: SandboxSpec): Entered => {
    const one = warm.take()
    if (!one.told) told(one.child, spec)
    return one
  }
  return {
    spawn(command) {
      const spec = tenant()
      if (!running() || spec === undefined) throw new SandboxGone('the sandbox has ended')
      const argv = command.terminal === undefined ? command.argv : inTerminal(command.argv, command.terminal)
      const text = launchText({ argv, cwd: command.cwd ?? cwd, env: command.env ?? {} })
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
    fill: warm.fill,
    close: warm.close,
  }
}

/** A child on the way in. */
function entrant(child: Child, group: Group): Omit<Entered, 'told'> {
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

/** A pseudo-terminal made inside, so that its name means something there. */
function inTerminal(argv: readonly string[], { columns, rows }: { columns: number; rows: number }): Command['argv'] {
  const text = `stty rows ${Math.trunc(rows)} cols ${Math.trunc(columns)} 2>/dev/null; exec ${argv.map(quote).join(' ')}`
  return ['script', '-q', '-e', '-f', '-c', text, '/dev/null']
}
