/*
 * The isolation of a sandbox, as bubblewrap's arguments: this list is the product. Its rules:
 *   - only fixed targets, and nothing is mounted at or below a path that a tenant can write (CVE-2026-87766);
 *     what a tenant can write is bound last;
 *   - the root is our own and read-only; of the host it shows /usr and a few things of /etc, never /etc itself;
 *   - every namespace is new, capabilities are gone, and further user namespaces cannot be made.
 * The arguments reach bubblewrap on a descriptor, so that the host's process list shows none of them.
 */

/** Descriptors that bubblewrap inherits. */
export const fds = { args: 3, info: 4, gate: 5 } as const

/** The user inside, whatever it is outside. */
export const inside = { uid: 1000, gid: 1000, name: 'agent', home: '/home/agent', runtime: '/run/parley' } as const

export const proxyPort = 3128

export interface Walls {
  /** Folders of this sandbox, as paths that the launching user can reach. Only the last three are the tenant's. */
  folders: { etc: string; runtime: string; tmp: string; home: string; workspace: string }
  workingDir: string
  /** Existing things of the host below /etc that are shown read-only; each has a place in `folders.etc`. */
  shared: readonly string[]
  /** Top-level folders of the host that are links into /usr (`/bin` → `usr/bin`), and those that are real. */
  links: readonly { path: string; to: string }[]
  real: readonly string[]
}

export function bubblewrapArguments(walls: Walls): string[] {
  const { folders } = walls
  return [
    ['--unshare-all', '--unshare-user', '--disable-userns', '--cap-drop', 'ALL'],
    ['--die-with-parent', '--new-session', '--as-pid-1'],
    ['--uid', String(inside.uid), '--gid', String(inside.gid), '--hostname', 'sandbox'],
    ['--clearenv', '--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin'],
    ['--info-fd', String(fds.info)],
    // Read to its end before the user namespace is closed: the set-up waits here until we hold that namespace.
    ['--file', String(fds.gate), '/.parley'],
    ['--ro-bind', '/usr', '/usr'],
    walls.links.flatMap(({ path, to }) => ['--symlink', to, path]),
    walls.real.flatMap((path) => ['--ro-bind', path, path]),
    ['--ro-bind', folders.etc, '/etc'],
    walls.shared.flatMap((path) => ['--ro-bind', path, path]),
    ['--proc', '/proc', '--dev', '/dev', '--perms', '1777', '--size', String(64 * 2 ** 20), '--tmpfs', '/dev/shm'],
    ['--ro-bind', folders.runtime, inside.runtime],
    ['--dir', '/var', '--symlink', '../tmp', '/var/tmp', '--symlink', '../run', '/var/run'],
    ['--bind', folders.tmp, '/tmp', '--bind', folders.home, inside.home],
    ['--bind', folders.workspace, walls.workingDir],
    ['--remount-ro', '/', '--chdir', '/'],
  ].flat()
}

/** Names that a workspace may not take. */
const taken = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/proc',
  '/dev',
  '/run',
  '/sys',
  '/tmp',
  '/var',
  '/home',
]

/** Why this cannot be the workspace's path; undefined when it can. */
export function refuseWorkingDir(path: string): string | undefined {
  if (!/^(\/[\w.@-]+)+$/.test(path) || path.split('/').some((part) => part === '.' || part === '..')) {
    return `working directory must be a plain absolute path, not ${JSON.stringify(path)}`
  }
  const clash = taken.find((one) => path === one || path.startsWith(`${one}/`))
  return clash === undefined ? undefined : `working directory must not lie in ${clash}`
}

/**
 * What process 1 does: it keeps the way out open and gathers orphans, says `up` on its output at once (all walls stand
 * then) and `ready` once the way out listens, and cannot be ended from inside. `limits` are `ulimit` commands, where no cgroup holds the limits.
 */
export function initScript(limits: string): string {
  const port = proxyPort.toString(16).toUpperCase().padStart(4, '0')
  return `${limits}
echo up
exec 3>&1 </dev/null >/dev/null 2>&1
(
  while :; do
    while read -r _ at _; do case $at in *:${port}) echo ready >&3; exit; esac; done </proc/net/tcp
    sleep 0.004
  done
) &
exec 3>&-
while :; do
  socat TCP-LISTEN:${proxyPort},bind=127.0.0.1,fork,reuseaddr,max-children=200 UNIX-CONNECT:${inside.runtime}/egress.sock
  sleep 0.1
done`
}
