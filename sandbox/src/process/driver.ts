/*
 * Sandboxes as bubblewraps on this machine. One sandbox is a folder (its files, and what is remembered of it) and, while
 * it runs, one bubblewrap that is a child of ours and dies with us: so a crash leaves files and nothing else, and
 * `start` opens the same files again.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { oneByOne, watchDisk, type DiskWatch } from '../disk.ts'
import type { Driver, Hands, SandboxSpec, Seen } from '../driver.ts'
import { SandboxGone } from '../driver.ts'
import { egressProxy, type EgressLog } from '../egress-proxy.ts'
import type { Dial, Gate } from '../egress.ts'
import { readMeta, removeFolder, tenantUid, writableFolders, writeMeta, type Meta } from '../folder.ts'
import { handsOver } from '../hands.ts'
import { hitLimits } from '../hit-limits.ts'
import { isSandboxId, refuseWorkingDir } from '../inside.ts'
import { turns } from '../turns.ts'
import { openCgroups, type Cgroups, type SandboxGroup } from './cgroup.ts'
import { sealDescriptors, type Seal } from './descriptors.ts'
import { doctor } from './doctor.ts'
import { hostEtc, hostRoot, makeFolders } from './folders.ts'
import { openSandbox, type RunningSandbox } from './sandbox.ts'

export interface ProcessDriverOptions {
  /** Folder of the sandboxes' files; made with mode 0700. */
  stateDir: string
  /** Folder of sockets: a short path, at most 50 characters; made with mode 0700. */
  runtimeDir: string
  egress: { gate: Gate; dial: Dial }
  /** Processes without isolation: refused, this driver always isolates. */
  unisolated?: boolean
  log: EgressLog
}

interface Running {
  sandbox: RunningSandbox
  hands: Hands
  group: SandboxGroup
  disk: DiskWatch
  paused: boolean
  closeEgress: () => Promise<void>
}

export function processDriver(options: ProcessDriverOptions): Driver {
  if (options.unisolated) throw new Error('the process driver does not run sandboxes without isolation')
  const stateDir = resolve(options.stateDir)
  const runtimeDir = resolve(options.runtimeDir)
  if (runtimeDir.length > 50) throw new Error(`runtimeDir is too long for unix sockets (50 characters): ${runtimeDir}`)
  const running = new Map<string, Running>()
  const inTurn = turns()
  const countInTurn = oneByOne()
  const listeners: ((seen: Seen) => void)[] = []
  const proxy = egressProxy({ ...options.egress, log: options.log })
  let host: Promise<Host> | undefined
  const prepare = () => (host ??= prepareHost(stateDir, runtimeDir))

  const folderOf = (id: string) => join(stateDir, id)

  const stop = async (id: string): Promise<void> => {
    const one = running.get(id)
    if (one === undefined) return
    running.delete(id)
    one.disk.close()
    await one.sandbox.close()
    await one.closeEgress()
    await one.group.remove()
  }

  const open = async (spec: SandboxSpec, signal: AbortSignal): Promise<void> => {
    const { cgroups, shared, root, seal } = await prepare()
    const { id } = spec
    const folder = folderOf(id)
    const runtime = join(runtimeDir, id)
    const meta: Meta = { spec, uid: tenantUid(id), paused: false }
    const folders = makeFolders(folder, meta, shared)
    folders.catch(() => undefined) // heard of below
    await mkdir(runtime, { recursive: true, mode: 0o755 })
    const closeEgress = await proxy.listen(id, join(runtime, 'egress.sock'))
    let group: SandboxGroup | undefined
    try {
      group = await cgroups?.open(id, spec.limits)
      await folders
      const walls = { shared, ...root }
      const sandbox = await openSandbox({ meta, folder, runtime, walls, group, seal, signal })
      const disk = watchDisk({
        folders: writableFolders(folder),
        limit: spec.limits.disk,
        onFull: (reason) => void sandbox.endAll(reason),
        inTurn: countInTurn,
      })
      const one = { sandbox, hands: handsOver(sandbox.spawn), group: sandbox.group, disk, paused: false, closeEgress }
      running.set(id, one)
      void sandbox.ended.then(async (how) => {
        if (running.get(id) !== one) return
        const detail = hitLimits(await one.group.hits(), one.disk, spec.limits) ?? how
        await inTurn(id, () => (running.get(id) === one ? stop(id) : Promise.resolve()))
        for (const listener of listeners) listener({ id, state: 'stopped', detail })
      })
    } catch (error) {
      await closeEgress()
      await group?.remove()
      throw error
    }
  }

  const look = async (id: string): Promise<Seen> => {
    const meta = isSandboxId(id) ? await readMeta(folderOf(id)) : undefined
    if (meta === undefined) return { id, state: 'missing', detail: null }
    const one = running.get(id)
    if (one === undefined) return { id, state: meta.paused ? 'paused' : 'stopped', detail: null }
    return {
      id,
      state: one.paused ? 'paused' : 'running',
      detail: hitLimits(await one.group.hits(), one.disk, meta.spec.limits) ?? null,
    }
  }

  const setPaused = async (id: string, one: Running, paused: boolean) => {
    await one.group.freeze(paused)
    one.paused = paused
    const meta = await readMeta(folderOf(id))
    if (meta !== undefined) await writeMeta(folderOf(id), { ...meta, paused })
  }

  const start = async (spec: SandboxSpec, signal: AbortSignal): Promise<void> => {
    const refusal = refuseWorkingDir(spec.workingDir)
    if (refusal !== undefined) throw new Error(refusal)
    await inTurn(spec.id, async () => {
      signal.throwIfAborted()
      const one = running.get(spec.id)
      if (one === undefined) await open(spec, signal)
      else if (one.paused) await setPaused(spec.id, one, false)
    })
  }

  const driver: Driver = {
    kind: 'process',
    start,
    resume: start,
    look,
    async doctor(signal) {
      const { cgroups } = await prepare()
      return doctor(driver, cgroups, signal)
    },
    async list() {
      const names = await readdir(stateDir).catch(() => [])
      return Promise.all(names.filter(isSandboxId).map(look))
    },
    pause: (id) =>
      inTurn(id, async () => {
        const one = running.get(id)
        if (one !== undefined) return one.paused ? undefined : setPaused(id, one, true)
        const meta = await readMeta(folderOf(id))
        if (meta === undefined) throw new SandboxGone(`there is no sandbox ${id}`)
        await writeMeta(folderOf(id), { ...meta, paused: true })
      }),
    remove: (id) =>
      inTurn(id, async () => {
        await stop(id)
        await removeFolder(folderOf(id))
        await rm(join(runtimeDir, id), { recursive: true, force: true })
      }),
    async hands(id) {
      const one = running.get(id)
      if (one === undefined) throw new SandboxGone(`sandbox ${id} is not running`)
      if (one.paused) throw new SandboxGone(`sandbox ${id} is paused`)
      return one.hands
    },
    onEnd: (listener) => void listeners.push(listener),
    async [Symbol.asyncDispose]() {
      await Promise.all([...running.keys()].map((id) => inTurn(id, () => stop(id))))
      await proxy.close()
      const prepared = await host?.catch(() => undefined)
      await prepared?.cgroups?.close()
      await prepared?.seal.close()
    },
  }
  return driver
}

interface Host {
  cgroups: Cgroups | undefined
  seal: Seal
  shared: string[]
  root: Awaited<ReturnType<typeof hostRoot>>
}

/** Once per program: folders, what the host offers, and the end of what a crash may have left running. */
async function prepareHost(stateDir: string, runtimeDir: string): Promise<Host> {
  for (const folder of [stateDir, runtimeDir]) await mkdir(folder, { recursive: true, mode: 0o700 })
  const name = `parley-${createHash('sha256').update(stateDir).digest('hex').slice(0, 12)}`
  const cgroups = await openCgroups(name)
  await cgroups?.sweep(new Set())
  return { cgroups, seal: await sealDescriptors(), shared: await hostEtc(), root: await hostRoot() }
}
