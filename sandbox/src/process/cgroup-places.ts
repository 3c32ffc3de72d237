import { constants } from 'node:fs'
import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Folders of ours, one per controller where the machine uses version 1, the same for all where it uses version 2. */
export interface Places {
  version: 1 | 2
  memory: string | undefined
  pids: string | undefined
  cpu: string | undefined
  tree: { version: 1 | 2; folder: string }
}

interface Mounted {
  /** Mount point by version 1 controller. */
  one: Map<string, string>
  /** Mount point of version 2. */
  two: string | undefined
  /** Our own path by controller; '' is version 2. */
  own: Map<string, string>
}

const controllers = ['memory', 'pids', 'cpu'] as const

/** Where groups of this name can be made. Undefined when nowhere. */
export async function findPlaces(name: string): Promise<Places | undefined> {
  const mounted = await readMounted()
  const whole = mounted.two === undefined ? undefined : await versionTwo(mounted, mounted.two, name)
  if (whole !== undefined) {
    return { version: 2, memory: whole, pids: whole, cpu: whole, tree: { version: 2, folder: whole } }
  }
  const [memory, pids, cpu] = await Promise.all(controllers.map((one) => versionOne(mounted, one, name)))
  const freezer = mounted.two === undefined ? undefined : await makeIn(mounted.two, mounted.own.get(''), name)
  if (freezer !== undefined && (await writable(join(freezer, 'cgroup.freeze')))) {
    return { version: 1, memory, pids, cpu, tree: { version: 2, folder: freezer } }
  }
  const old = await versionOne(mounted, 'freezer', name)
  return old === undefined ? undefined : { version: 1, memory, pids, cpu, tree: { version: 1, folder: old } }
}

async function readMounted(): Promise<Mounted> {
  const mounted: Mounted = { one: new Map(), two: undefined, own: new Map() }
  for (const line of (await readFile('/proc/mounts', 'utf8').catch(() => '')).split('\n')) {
    const [, point = '', type, options = ''] = line.split(' ')
    if (type === 'cgroup2') mounted.two ??= point
    if (type === 'cgroup') for (const option of options.split(',')) mounted.one.set(option, point)
  }
  for (const line of (await readFile('/proc/self/cgroup', 'utf8').catch(() => '')).split('\n')) {
    const [, names = '', ...path] = line.split(':')
    for (const one of names.split(',')) mounted.own.set(one, path.join(':'))
  }
  return mounted
}

const versionOne = (mounted: Mounted, controller: string, name: string) => {
  const point = mounted.one.get(controller)
  return point === undefined ? undefined : makeIn(point, mounted.own.get(controller), name)
}

/** Below our own group, so that the limits put on the server hold for its sandboxes too; at the top when that is not seen. */
async function makeIn(point: string, own: string | undefined, name: string): Promise<string | undefined> {
  for (const parent of new Set([join(point, own ?? '/'), point])) {
    if (!(await writable(join(parent, 'cgroup.procs')))) continue
    const folder = join(parent, name)
    const made = await mkdir(folder, { recursive: true }).then(
      () => true,
      () => false,
    )
    if (made) return folder
  }
  return undefined
}

/**
 * Version 2 with its controllers: at the top when they are handed down from there and we may write (root on a plain
 * machine), else in our own group, which must first be emptied: a group with members cannot hand controllers down.
 */
async function versionTwo(mounted: Mounted, point: string, name: string): Promise<string | undefined> {
  const handsDown = async (folder: string) => {
    const given = (await readFile(join(folder, 'cgroup.subtree_control'), 'utf8').catch(() => '')).trim().split(' ')
    return controllers.every((one) => given.includes(one))
  }
  const own = join(point, mounted.own.get('') ?? '/')
  const available = (await readFile(join(own, 'cgroup.controllers'), 'utf8').catch(() => '')).trim().split(' ')
  if (!(await handsDown(point)) && !controllers.every((one) => available.includes(one))) return undefined
  if ((await handsDown(point)) && (await writable(join(point, 'cgroup.procs')))) return makeIn(point, '/', name)
  if (!(await handsDown(own)) && !(await handDown(own))) return undefined
  return makeIn(own, '/', name)
}

async function handDown(own: string): Promise<boolean> {
  try {
    const server = join(own, 'parley-server')
    await mkdir(server, { recursive: true })
    for (const pid of (await readFile(join(own, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean)) {
      await writeFile(join(server, 'cgroup.procs'), pid)
    }
    await writeFile(join(own, 'cgroup.subtree_control'), controllers.map((one) => `+${one}`).join(' '))
    return true
  } catch {
    return false
  }
}

const writable = (path: string) =>
  access(path, constants.W_OK).then(
    () => true,
    () => false,
  )
