/*
 * The isolation of a sandbox, as bubblewrap's arguments: this list is the product. Its rules:
 *   - only fixed targets, and nothing is mounted at or below a path that a tenant can write (CVE-2026-87766);
 *     what a tenant can write is bound last;
 *   - the root is our own and read-only; of the host it shows /usr and a few things of /etc, never /etc itself;
 *   - every namespace is new, capabilities are gone, and further user namespaces cannot be made.
 * The arguments reach bubblewrap on a descriptor, so that the host's process list shows none of them.
 */

import { inside } from '../inside.ts'

/** Descriptors that bubblewrap inherits. */
export const fds = { args: 3, info: 4, gate: 5 } as const

export interface Walls {
  /** Folders of this sandbox, as paths that the launching user can reach. Only the last three are the tenant's. */
  folders: { etc: string; runtime: string; tmp: string; home: string; workspace: string }
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
    ['--uid', String(inside.uid), '--gid', String(inside.uid), '--hostname', 'sandbox'],
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
    ['--bind', folders.workspace, inside.workspace],
    ['--remount-ro', '/', '--chdir', '/'],
  ].flat()
}
