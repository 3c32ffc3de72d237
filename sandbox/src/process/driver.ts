/*
 * Sandboxes as bubblewraps on this machine. One sandbox is a folder (its files, and what is remembered of it) and, while
 * it runs, one bubblewrap that is a child of ours and dies with us: so a crash leaves files and nothing else, and
 * `start` opens the same files again. Where there can be no walls, a plain process takes bubblewrap's place (`plain.ts`).
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import pLimit from 'p-limit'
import { localDisks, oneByOne, watchDisk } from '../disk.ts'
import type { Driver, Finding, SandboxSpec } from '../driver.ts'
import { egressProxy, type EgressLog } from '../egress-proxy.ts'
import type { Dial, Gate } from '../egress.ts'
import { readMeta, rememberPaused, removeFolder, tenantUid, writableFolders, type Meta } from '../folder.ts'
import { driverOf, type Engine, type Held, lasting } from '../frame.ts'
import { handsOver } from '../hands.ts'
import { hitLimits } from '../hit-limits.ts'
import { inside, isSandboxId } from '../inside.ts'
import { keepSpares, type Kept, sparePrefix } from '../spares.ts'
import { openCgroups, type Cgroups } from './cgroup.ts'
import { doctor, noWalls, unwalledDoctor } from './doctor.ts'
import { describe, hostEtc, hostRoot, makeFolders } from './folders.ts'
import { type ForkServer, forkServer } from './fork-server.ts'
import { endSandboxes } from './plain-group.ts'
import { openPlain, plainWorkspace } from './plain.ts'
import { openSandbox, type RunningSandbox } from './sandbox.ts'

export interface ProcessDriverOptions {
  /** Folder of the sandboxes' files; made with mode 0700. */
  stateDir: string
  /** Folder of sockets: a short path, at most 50 characters; made with mode 0700. */
  runtimeDir: string
  egress: { gate: Gate; dial: Dial; ca?: string }
  /** Sandboxes that are kept ready before anybody asks for one; those of an image are nothing here. None unless said. */
  spares?: readonly Kept[]
  /** As for a user who may not make control groups. */
  ungrouped?: true
  /** Sandboxes are plain processes of this user: why there can be no walls. */
  unwalled?: readonly Finding[]
  log: EgressLog
}

/** The walls of a sandbox stand; it may not be anybody's yet. */
interface Raised {
  name: string
  meta: Meta
  sandbox: RunningSandbox
  /** Whose requests come out of it. */
  tenant: { id: string }
  closeEgress: () => Promise<void>
}

export function processDriver(options: ProcessDriverOptions): Driver {
  return driverOf(() => processEngine(options))
}

function processEngine(options: ProcessDriverOptions): Engine {
  const stateDir = resolve(options.stateDir)
  const runtimeDir = resolve(options.runtimeDir)
  if (runtimeDir.length > 50) throw new Error(`runtimeDir is too long for unix sockets (50 characters): ${runtimeDir}`)
  const countInTurn = oneByOne()
  /** Walls are raised by programs that take a processor each: more of them at once only take it from everybody else. */
  const atOnce = pLimit(availableParallelism())
  const diskOf = localDisks(async (argv, timeoutMs) => (await prepare()).forks.printed(argv, timeoutMs))
  const proxy = egressProxy({ ...options.egress, log: options.log })
  let preparing: Promise<Host> | undefined
  const { unwalled } = options
  const prepare = lasting(() => (preparing = prepareHost(stateDir, runtimeDir, options)))

  const folderOf = (id: string) => join(stateDir, id)
  const uidOf = (id: string) => (unwalled ? (process.getuid?.() ?? 0) : tenantUid(id))

  const raise = (...wanted: Parameters<typeof raiseNow>) => atOnce(() => raiseNow(...wanted))

  const raiseNow = async (name: string, spec: SandboxSpec, uid: number, signal: AbortSignal): Promise<Raised> => {
    signal.throwIfAborted()
    const { cgroups, shared, root, forks } = await prepare()
    await forks.ready()
    const [folder, runtime] = [folderOf(name), join(runtimeDir, name)]
    const meta: Meta = { spec, uid, paused: false, ...(unwalled && { walls: false as const }) }
    const folders = makeFolders(folder, meta, shared)
    folders.catch(() => undefined) // heard of below
    await mkdir(runtime, { recursive: true, mode: 0o755 })
    const group = await cgroups?.open(name, spec.limits)
    let sandbox: RunningSandbox | undefined
    try {
      await folders
      const walls = { shared, ...root }
      const opening = { meta, spare: name.startsWith(sparePrefix), folder, runtime, walls, group, forks, signal }
      sandbox = await (unwalled ? openPlain : openSandbox)(opening)
      const tenant = { id: name }
      const closeEgress = await proxy.listen(() => tenant.id, join(runtime, 'egress.sock'))
      return { name, meta, sandbox, tenant, closeEgress }
    } catch (error) {
      await sandbox?.close()
      await group?.remove()
      throw error
    }
  }

  const forget = async (name: string): Promise<void> => {
    const { forks } = await prepare()
    await removeFolder(folderOf(name), forks.run)
    await rm(join(runtimeDir, name), { recursive: true, force: true })
  }

  const lower = async ({ sandbox, closeEgress }: Raised): Promise<void> => {
    await sandbox.close()
    await closeEgress()
    await sandbox.group.remove()
  }

  const dismiss = async (one: Raised): Promise<void> => {
    await lower(one)
    await forget(one.name)
  }

  const spares = keepSpares<Raised>({
    kept: unwalled ? [] : (options.spares ?? []).filter(({ image }) => image === null),
    make: (shape, signal) => {
      const id = randomUUID()
      const name = `${sparePrefix}${id}`
      return raise(name, { ...shape, id, env: {} }, tenantUid(id), signal).catch(async (error: unknown) => {
        await forget(name)
        throw error
      })
    },
    usable: ({ sandbox }) => sandbox.running(),
    dismiss,
  })

  /** A spare one becomes that of this tenant: its folders take his name, and hear of him. */
  const takeOver = async (spare: Raised, spec: SandboxSpec): Promise<Raised> => {
    const { id } = spec
    const one = { ...spare, name: id, meta: { ...spare.meta, spec } }
    try {
      await rename(folderOf(spare.name), folderOf(id))
      await rename(join(runtimeDir, spare.name), join(runtimeDir, id))
      await describe(folderOf(id), one.meta)
      one.tenant.id = id
      one.sandbox.belong(spec)
      return one
    } catch (error) {
      await dismiss(spare)
      await dismiss(one)
      throw error
    }
  }

  const raised = async (spec: SandboxSpec, signal: AbortSignal): Promise<Raised> => {
    const known = await readMeta(folderOf(spec.id))
    const refusal = known && refusalOf(known, unwalled === undefined)
    if (refusal !== undefined) throw new Error(refusal)
    const spare = known === undefined ? spares.take({ ...spec, image: null }) : undefined
    if (spare !== undefined) return takeOver(spare, spec)
    return raise(spec.id, spec, known?.uid ?? uidOf(spec.id), signal)
  }

  const open = async (spec: SandboxSpec, signal: AbortSignal): Promise<Held> => {
    const { id, limits } = spec
    const one = await raised(spec, signal)
    const { sandbox } = one
    const disk = watchDisk({
      disk: diskOf(writableFolders(folderOf(id))),
      limit: limits.disk,
      onFull: (reason) => void sandbox.endAll(reason),
      inTurn: countInTurn,
    })
    const { group } = sandbox
    const limitsHit = async () => hitLimits(await group.hits(), disk, limits)
    return {
      hands: handsOver(sandbox.spawn, { layout: sandbox.layout }),
      limitsHit,
      ended: sandbox.ended.then(async (how) => (await limitsHit()) ?? how),
      freeze: (frozen) => group.freeze(frozen),
      async close() {
        disk.close()
        await lower(one)
      },
    }
  }

  return {
    kind: 'process',
    workspaceOf: (id) => (unwalled ? plainWorkspace(folderOf(id)) : inside.workspace),
    ...(unwalled && { warning: noWalls }),
    ready: prepare,
    open: (spec, signal) => spares.rest(() => open(spec, signal)),
    async recall(id) {
      const meta = await readMeta(folderOf(id))
      return meta && { paused: meta.paused, refusal: refusalOf(meta, unwalled === undefined) }
    },
    remember: (id, paused) => rememberPaused(folderOf(id), paused),
    ids: async () => (await readdir(stateDir)).filter(isSandboxId),
    forget,
    async doctor(driver, signal) {
      const { cgroups } = await prepare()
      if (unwalled) return unwalledDoctor({ driver, cgroups, why: unwalled, signal })
      return doctor(driver, cgroups, signal)
    },
    async close() {
      await Promise.all([spares.close(), proxy.close()])
      const host = await preparing?.catch(() => undefined)
      await host?.cgroups?.close()
      await host?.forks.close()
    },
  }
}

/** The programs of a sandbox know its files by their paths, which are others without walls. */
function refusalOf({ walls: none }: Meta, haveWalls: boolean): string | undefined {
  const walls = none === undefined
  if (walls === haveWalls) return undefined
  const [made, now] = walls ? ['behind', 'there are none now'] : ['without', 'there are some now']
  return `The sandbox was made ${made} walls, and ${now}: its files are kept, and are elsewhere for its programs. A fork of the conversation goes on with what was last saved of them.`
}

interface Host {
  cgroups: Cgroups | undefined
  forks: ForkServer
  shared: string[]
  root: Awaited<ReturnType<typeof hostRoot>>
}

/** Once per program: folders, what the host offers, and the end of what a crash may have left running. */
async function prepareHost(
  stateDir: string,
  runtimeDir: string,
  how: Pick<ProcessDriverOptions, 'ungrouped' | 'unwalled'>,
): Promise<Host> {
  for (const folder of [stateDir, runtimeDir]) await mkdir(folder, { recursive: true, mode: 0o700 })
  const name = `parley-${createHash('sha256').update(stateDir).digest('hex').slice(0, 12)}`
  const cgroups = how.ungrouped ? undefined : await openCgroups(name)
  await cgroups?.sweep(new Set())
  await removeSpares(stateDir, runtimeDir)
  if (how.unwalled) await endSandboxes((await readdir(stateDir)).filter(isSandboxId))
  const forks = forkServer(join(runtimeDir, 'forks.sock'))
  await forks.ready()
  return { cgroups, forks, shared: await hostEtc(), root: await hostRoot() }
}

/** Nobody's files, left by a crash. */
async function removeSpares(...folders: string[]): Promise<void> {
  for (const folder of folders) {
    const names = await readdir(folder)
    await Promise.all(
      names.filter((name) => name.startsWith(sparePrefix)).map((name) => removeFolder(join(folder, name))),
    )
  }
}
