import { createHash } from 'node:crypto'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { processesIn } from '../tools/program.ts'

/** What one program has on this machine: each list is empty when nothing of it is left. */
export interface Left {
  processes: string[]
  mounts: string[]
  cgroups: string[]
  /** Those that a process of ours is in, or that are held by a mount. */
  namespaces: string[]
  /** Files and folders of the program's own place for temporary ones. */
  temporary: string[]
  /** Sandboxes that no row knows. */
  folders: string[]
}

const cgroupRoot = '/sys/fs/cgroup'
const kinds = ['mnt', 'net', 'pid', 'user', 'ipc', 'uts', 'cgroup']

/**
 * @param dataDir Of a program that has ended.
 * @param temporary Where it was told to keep temporary files.
 * @param known Ids of the sandboxes that there should be.
 */
export async function leftOf(dataDir: string, temporary: string, known: ReadonlySet<string>): Promise<Left> {
  const processes = await processesIn(dataDir)
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').filter((line) => line.includes(dataDir))
  const name = `parley-${createHash('sha256').update(resolve(dataDir, 'sandboxes')).digest('hex').slice(0, 12)}`
  const own = await namespacesOf('self')
  const theirs = await Promise.all(processes.map(({ pid }) => namespacesOf(String(pid))))
  return {
    processes: processes.map(({ pid, args }) => `${pid} ${args.join(' ').slice(0, 200)}`),
    mounts,
    cgroups: await cgroupsNamed(name),
    namespaces: [...new Set([...theirs.flat(), ...mounts.filter((line) => line.includes(' nsfs '))])].filter(
      (one) => !own.includes(one),
    ),
    temporary: await readdir(temporary),
    folders: (await readdir(join(dataDir, 'sandboxes')).catch(() => [])).filter((id) => !known.has(id)),
  }
}

const namespacesOf = (pid: string): Promise<string[]> =>
  Promise.all(kinds.map((kind) => readlink(`/proc/${pid}/ns/${kind}`).catch(() => ''))).then((all) =>
    all.filter((one) => one !== ''),
  )

/** In each hierarchy, as deep as a delegated one may be. */
async function cgroupsNamed(name: string, folder = cgroupRoot, depth = 4): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const below = entries.filter((entry) => entry.isDirectory())
  const here = below.filter((entry) => entry.name === name).map((entry) => join(folder, entry.name))
  if (depth === 0) return here
  return [
    ...here,
    ...(await Promise.all(below.map((one) => cgroupsNamed(name, join(folder, one.name), depth - 1)))).flat(),
  ]
}
