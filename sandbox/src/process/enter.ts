/*
 * Programs on the way into a sandbox. Each `exec`s the next, in this order, because each step takes away what the step
 * before still needed:
 *   sh        joins the sandbox's control groups, while it may still write there; nothing of the tenant's has run
 *   setpriv   sets no-new-privileges for good
 *   nsenter   into the outer user namespace (it owns the other namespaces) and into all the others, by the hidden user
 *   nsenter   into the inner user namespace, where nobody has any capability
 *   sh        waits to be told the tenant's working directory, variables and program, and becomes that program
 * What the tenant says is the beginning of standard input, which only the last step reads: so no variable of his reaches a
 * program that still has rights, and neither his variables nor his arguments show in the host's process list. And the way
 * can be gone before anybody knows what for: see `warm.ts`.
 */
import type { Command } from '../driver.ts'
import { exports, quote } from '../quote.ts'
import type { Group } from './cgroup.ts'
import { type Child, cleanEnv, type ForkServer, type ProgramToStart } from './fork-server.ts'

const isRoot = () => process.getuid?.() === 0

/** Shell text that makes the shell a member of the groups. */
export const joining = (folders: readonly string[]): string =>
  folders
    .map(quote)
    .map((folder) => `[ -d ${folder} ] || mkdir ${folder} || exit 126\necho 0 >${folder}/cgroup.procs || exit 126\n`)
    .join('')

export interface Launch {
  joins: readonly string[]
  /** User that bubblewrap runs as when we are root. */
  uid: number
  /** Folder of the sandbox, and that of its sockets. */
  folder: string
  runtime: string
  program: readonly string[]
  forks: ForkServer
  /** Of what it says on the descriptors from 3 on, and how many there are. */
  onText: (fd: number, text: string) => void
  pipes: number
}

/**
 * Starts bubblewrap as the sandbox's own user. As root, its folders are first shown at `/mnt` in a mount namespace of
 * its own: that user could not pass a closed folder such as /root on the way to them.
 */
export function launch({ joins, uid, folder, runtime, program, forks, ...hear }: Launch): Child {
  if (!isRoot()) return forks.start({ ...sh(`${joining(joins)}exec "$@"`, program), ...hear })
  const drop = ['/usr/bin/setpriv', '--reuid', String(uid), '--regid', String(uid), '--clear-groups', '--no-new-privs']
  const mounts = `${joining(joins)}mount --bind "$1" /mnt && mount --bind "$2" /mnt/run && shift 2 && exec "$@"`
  const alone = ['--mount', '--propagation', 'private', '/bin/sh', '-c', mounts, 'sh']
  const args = [...alone, folder, runtime, ...drop, ...program]
  return forks.start({ program: '/usr/bin/unshare', args, env: cleanEnv, ...hear })
}

/** Where the folders of a sandbox are for the user that runs bubblewrap. */
export const seenAt = (folder: string, runtime: string) =>
  isRoot() ? { folder: '/mnt', runtime: '/mnt/run' } : { folder, runtime }

export interface Door {
  /** Process 1 of the sandbox, as the host numbers it. */
  pid: number
  /** Our descriptor of the outer user namespace. */
  userNamespace: number
  forks: ForkServer
}

/** What holds for every program of a sandbox. */
export interface Everywhere {
  /** `ulimit` commands, with `;` between them. */
  limits: string
  env: Record<string, string>
}

/** Shell text: it does what it is told, until one order makes it another program. */
export const waitForOrders = 'while IFS= read -r PARLEY_ORDER; do eval "$PARLEY_ORDER"; done'

/**
 * Starts a program that stands inside and waits for `tell` and `become`. The child's own process is outside and ends as the
 * one inside does.
 */
export function enter(door: Door, { joins, mark }: Pick<Group, 'joins' | 'mark'>): Child {
  const outer = `--user=/proc/${process.pid}/fd/${door.userNamespace}`
  // Root lets go of its user here; a plain user stays who he is, and may not touch his groups.
  const credentials = isRoot() ? [] : ['--preserve-credentials']
  const way = sh(
    `${joining(joins)}exec "$@"`,
    [
      ['/usr/bin/setpriv', '--no-new-privs'],
      ['/usr/bin/nsenter', outer, ...credentials, '-t', String(door.pid), '-m', '-u', '-i', '-n', '-p', '--'],
      ['/usr/bin/nsenter', '--user=/proc/1/ns/user', '--preserve-credentials', '--'],
      ['/bin/sh', '-c', waitForOrders],
    ].flat(),
    mark,
  )
  return door.forks.start(way)
}

/** Tells a program that waits inside what holds for every program there. */
export function tell(child: Child, all: Everywhere): void {
  child.stdin.write(order(`${exports(all.env, '; ')}${all.limits}`))
}

/** Makes a program that waits inside the one of this text (see `launchText`). */
export function become(child: Child, text: string): void {
  child.stdin.write(order(text))
}

/** Ends a program that waits inside. */
export function neverMind(child: Child): void {
  child.stdin.end()
}

/** A program as an order: folder, variables, argv. Throws on what cannot be said in a shell. */
export function launchText({ argv, cwd = '/', env = {} }: Pick<Command, 'argv' | 'cwd' | 'env'>): string {
  const program = argv.map(quote).join(' ')
  const go = `cd -- ${quote(cwd)} || exit 126; unset PARLEY_ORDER OLDPWD`
  return `${go}; ${exports(env, '; ')}exec ${program}`
}

/** One line, as the shell reads it byte by byte; what is longer, or has lines of its own, is counted and read at once. */
function order(text: string): string {
  if (text.length < 2048 && !text.includes('\n')) return `${text}\n`
  return `eval "$(head -c ${Buffer.byteLength(text)})"\n${text}`
}

const sh = (script: string, args: readonly string[], env: Record<string, string> = {}): ProgramToStart => ({
  program: '/bin/sh',
  args: ['-c', script, 'sh', ...args],
  env: { ...cleanEnv, ...env },
})
