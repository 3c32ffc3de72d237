/*
 * Control groups hold what a sandbox may use and let us act on all of it at once. Two jobs, often two places:
 *   limits: memory, pids and cpu, one folder per sandbox (version 1: one per controller; version 2: one in all);
 *   tree:   freeze, kill and count, one folder per sandbox with one below it for each process that we start
 *           (version 2, also where its controllers are bound to version 1; else the version 1 freezer).
 * Everything of one state directory lies below one folder, so that what a crash left is found and ended at the next start.
 */
import { mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Limits } from '../driver.ts'
import { findPlaces, type Places } from './cgroup-places.ts'

/** The processes of one folder and everything below it. */
export interface Group {
  /** Folders whose file `cgroup.procs` a process writes `0` to, to become a member. The last one may be still to be made. */
  readonly joins: string[]
  /** Variables that say who belongs here, where no control group does. */
  readonly mark: Record<string, string>
  members(): Promise<number[]>
  /** KILL to every member until none is left; rejects after 10 s. */
  kill(): Promise<void>
  remove(): Promise<void>
}

export interface SandboxGroup extends Group {
  /** Made by the first that joins it: the kernel takes its time for that, and nobody else shall wait. */
  child(): Group
  /** Resolves when every member is frozen, or runs again. */
  freeze(frozen: boolean): Promise<void>
  /** How often a limit was hit since the group was made. */
  hits(): Promise<{ memory: number; processes: number }>
}

export interface Cgroups {
  /** Which limits hold on this machine. */
  readonly enforced: { memory: boolean; processes: boolean; cpu: boolean; freeze: boolean }
  open(id: string, limits: Limits): Promise<SandboxGroup>
  /** Ends and removes all groups but these. */
  sweep(keep: ReadonlySet<string>): Promise<void>
  /** Removes our folders when no group is left in them. */
  close(): Promise<void>
}

/** Undefined when this user may not make groups: limits are then those of single processes. */
export async function openCgroups(name: string): Promise<Cgroups | undefined> {
  const places = await findPlaces(name)
  if (places === undefined) return undefined
  const { memory, pids, cpu, tree } = places
  return {
    enforced: { memory: !!memory, processes: !!pids, cpu: !!cpu, freeze: true },
    open: (id, limits) => openGroup(places, id, limits),
    async sweep(keep) {
      const found = new Set<string>()
      for (const place of placesOf(places)) for (const id of await folders(place)) if (!keep.has(id)) found.add(id)
      for (const id of found) {
        await killTree(tree, join(tree.folder, id)).catch(() => undefined)
        for (const place of placesOf(places)) await removeTree(join(place, id))
      }
    },
    async close() {
      for (const place of placesOf(places)) await rmdir(place).catch(() => undefined)
    },
  }
}

async function openGroup(places: Places, id: string, limits: Limits): Promise<SandboxGroup> {
  const at = (place: string | undefined) => (place === undefined ? undefined : join(place, id))
  const [memory, pids, cpu, tree] = [at(places.memory), at(places.pids), at(places.cpu), join(places.tree.folder, id)]
  for (const folder of new Set([memory, pids, cpu, tree]))
    if (folder !== undefined) await mkdir(folder, { recursive: true })
  await setLimits(places.version, { memory, pids, cpu }, limits)
  const limiting =
    places.version === 2 ? [] : [...new Set([memory, pids, cpu])].filter((folder) => folder !== undefined)
  const before = await readHits(places.version, memory, pids)
  const group = (folder: string): Group => ({
    joins: [...limiting, folder],
    mark: {},
    members: () => membersBelow(folder),
    kill: () => killTree(places.tree, folder),
    remove: () => removeTree(folder),
  })
  let children = 0
  return {
    ...group(tree),
    child: () => group(join(tree, `p${process.pid}-${++children}`)),
    freeze: (frozen) => freeze(places.tree, tree, frozen),
    async hits() {
      const now = await readHits(places.version, memory, pids)
      return { memory: now.memory - before.memory, processes: now.processes - before.processes }
    },
    async remove() {
      for (const folder of [tree, ...limiting]) await removeTree(folder)
    },
  }
}

type Limited = Record<'memory' | 'pids' | 'cpu', string | undefined>

async function setLimits(version: 1 | 2, { memory, pids, cpu }: Limited, limits: Limits): Promise<void> {
  const period = 100_000
  const quota = Math.max(1000, Math.round(limits.cpu * period))
  const set = (folder: string | undefined, file: string, value: string | number) =>
    folder === undefined ? undefined : writeFile(join(folder, file), String(value))
  await set(pids, 'pids.max', limits.processes)
  if (version === 2) {
    await set(memory, 'memory.max', limits.memory)
    await set(memory, 'memory.swap.max', 0)?.catch(() => undefined) // absent where the kernel counts no swap
    await set(cpu, 'cpu.max', `${quota} ${period}`)
    return
  }
  // A new limit may lie above or below the old pair; memory+swap may never be less than memory, so the second try settles it.
  const swap = () => set(memory, 'memory.memsw.limit_in_bytes', limits.memory)?.catch(() => undefined)
  await set(memory, 'memory.limit_in_bytes', limits.memory)?.catch(swap)
  await swap()
  await set(memory, 'memory.limit_in_bytes', limits.memory)
  await set(cpu, 'cpu.cfs_period_us', period)
  await set(cpu, 'cpu.cfs_quota_us', quota)
}

async function readHits(version: 1 | 2, memory: string | undefined, pids: string | undefined) {
  const count = async (folder: string | undefined, file: string, key: string) => {
    const text = folder === undefined ? '' : await readFile(join(folder, file), 'utf8').catch(() => '')
    return Number(new RegExp(`^${key} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  }
  return {
    memory: await count(memory, version === 2 ? 'memory.events' : 'memory.oom_control', 'oom_kill'),
    processes: await count(pids, 'pids.events', 'max'),
  }
}

async function freeze(tree: Places['tree'], folder: string, frozen: boolean): Promise<void> {
  const [file, value] =
    tree.version === 2 ? ['cgroup.freeze', frozen ? '1' : '0'] : ['freezer.state', frozen ? 'FROZEN' : 'THAWED']
  const reached = async () => {
    if (tree.version === 1) return (await readFile(join(folder, file), 'utf8')).trim() === value
    return (await readFile(join(folder, 'cgroup.events'), 'utf8')).includes(`frozen ${value}\n`)
  }
  const deadline = performance.now() + 10_000
  while (performance.now() < deadline) {
    await writeFile(join(folder, file), value)
    for (let tries = 0; tries < 20; tries++) {
      if (await reached()) return
      await sleep(2)
    }
  }
  throw new Error(`${folder} did not become ${value} within 10 s`)
}

async function killTree(tree: Places['tree'], folder: string): Promise<void> {
  const deadline = performance.now() + 10_000
  while (performance.now() < deadline) {
    const members = await membersBelow(folder)
    if (members.length === 0) return
    if (tree.version === 2) await writeFile(join(folder, 'cgroup.kill'), '1').catch(() => undefined)
    for (const pid of members) signal(pid, 'SIGKILL')
    if (tree.version === 1) await writeFile(join(folder, 'freezer.state'), 'THAWED').catch(() => undefined)
    await sleep(2)
  }
  throw new Error(`processes in ${folder} did not end within 10 s of KILL`)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    if (pid > 0) process.kill(pid, name)
  } catch {
    // It has ended since the list was read.
  }
}

async function membersBelow(folder: string): Promise<number[]> {
  const text = await readFile(join(folder, 'cgroup.procs'), 'utf8').catch(() => '')
  const here = text.split('\n').filter(Boolean).map(Number)
  const below = await Promise.all((await folders(folder)).map((name) => membersBelow(join(folder, name))))
  return [...here, ...below.flat()]
}

async function folders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
}

/** A group can go once its last process has been reaped, which may be a moment after it died. */
async function removeTree(folder: string): Promise<void> {
  for (const name of await folders(folder)) await removeTree(join(folder, name))
  for (let tries = 0; tries < 100; tries++) {
    const left = await rmdir(folder).then(
      () => false,
      (error: NodeJS.ErrnoException) => error.code === 'EBUSY' || error.code === 'ENOTEMPTY',
    )
    if (!left) return
    await sleep(10)
  }
}

const placesOf = (places: Places) =>
  [...new Set([places.tree.folder, places.memory, places.pids, places.cpu])].filter((place) => place !== undefined)
