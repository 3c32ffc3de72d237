/*
 * Programs on the way into a sandbox. Each `exec`s the next, in this order, because each step takes away what the step
 * before still needed:
 *   sh        joins the sandbox's control groups, while it may still write there; nothing of the tenant's has run
 *   setpriv   sets no-new-privileges for good
 *   nsenter   into the outer user namespace (it owns the other namespaces) and into all the others, by the hidden user
 *   nsenter   into the inner user namespace, where nobody has any capability
 *   sh        the tenant's working directory and variables, then the tenant's program
 * What the tenant says travels in one variable that only the last step reads: so no variable of his reaches a program
 * that still has rights, and neither his variables nor his arguments show in the host's process list.
 */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import type { Command } from '../driver.ts'
import { exports, quote } from '../quote.ts'

const cleanEnv = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' }
const isRoot = () => process.getuid?.() === 0

/** Shell text that makes the shell a member of the groups. */
const join = (joins: readonly string[]) => joins.map((file) => `echo 0 >${quote(file)} || exit 126\n`).join('')

export interface Launch {
  joins: readonly string[]
  /** User that bubblewrap runs as when we are root. */
  uid: number
  /** Folder of the sandbox, and that of its sockets. */
  folder: string
  runtime: string
  stdio: StdioOptions
  program: readonly string[]
}

/**
 * Starts bubblewrap as the sandbox's own user. As root, its folders are first shown at `/mnt` in a mount namespace of
 * its own: that user could not pass a closed folder such as /root on the way to them.
 */
export function launch({ joins, uid, folder, runtime, stdio, program }: Launch): ChildProcess {
  if (!isRoot()) return sh(`${join(joins)}exec "$@"`, program, stdio)
  const drop = ['/usr/bin/setpriv', '--reuid', String(uid), '--regid', String(uid), '--clear-groups', '--no-new-privs']
  const script = `${join(joins)}exec /usr/bin/unshare --mount --propagation private /bin/sh -c "$1" sh "$@"`
  const mounts = 'mount --bind "$2" /mnt && mount --bind "$3" /mnt/run && shift 3 && exec "$@"'
  return sh(script, [mounts, folder, runtime, ...drop, ...program], stdio)
}

/** Where the folders of a sandbox are for the user that runs bubblewrap. */
export const seenAt = (folder: string, runtime: string) =>
  isRoot() ? { folder: '/mnt', runtime: '/mnt/run' } : { folder, runtime }

export interface Door {
  /** Process 1 of the sandbox, as the host numbers it. */
  pid: number
  /** Our descriptor of the outer user namespace. */
  userNamespace: number
}

export interface Inner extends Pick<Command, 'argv' | 'cwd' | 'env'> {
  /** `ulimit` commands. */
  limits: string
}

/** Starts a program inside. The child's own process is outside and ends as the program inside does. */
export function enter(door: Door, joins: readonly string[], inner: Inner, stdio: StdioOptions = 'pipe'): ChildProcess {
  const outer = `--user=/proc/${process.pid}/fd/${door.userNamespace}`
  // Root lets go of its user here; a plain user stays who he is, and may not touch his groups.
  const credentials = isRoot() ? [] : ['--preserve-credentials']
  return sh(
    `${join(joins)}exec "$@"`,
    [
      ['/usr/bin/setpriv', '--no-new-privs'],
      ['/usr/bin/nsenter', outer, ...credentials, '-t', String(door.pid), '-m', '-u', '-i', '-n', '-p', '--'],
      ['/usr/bin/nsenter', '--user=/proc/1/ns/user', '--preserve-credentials', '--'],
      ['/bin/sh', '-c', 'eval "$PARLEY_LAUNCH"'],
    ].flat(),
    stdio,
    { PARLEY_LAUNCH: launchText(inner) },
  )
}

/** The last step as shell text: limits, folder, variables, program. */
export function launchText({ argv, cwd = '/', env = {}, limits }: Inner): string {
  const program = argv.map(quote).join(' ')
  return `unset PARLEY_LAUNCH OLDPWD\n${limits}\ncd -- ${quote(cwd)} || exit 126\n${exports(env)}exec ${program}`
}

function sh(
  script: string,
  args: readonly string[],
  stdio: StdioOptions,
  env: Record<string, string> = {},
): ChildProcess {
  return spawn('/bin/sh', ['-c', script, 'sh', ...args], { cwd: '/', stdio, env: { ...cleanEnv, ...env } })
}
