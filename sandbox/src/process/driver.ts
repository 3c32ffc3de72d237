/*
 * Sandboxes as bubblewraps on this machine. One sandbox is a folder (its files, and what is remembered of it) and, while
 * it runs, one bubblewrap that is a child of ours and dies with us: so a crash leaves files and nothing else, and
 * `start` opens the same files again.
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
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
import { keepSpares, type Shape, sparePrefix } from '../spares.ts'
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
  egress: { gate: Gate; dial: Dial; ca?: string }
  /** Sandboxes that are kept ready before anybody asks for one. None unless said. */
  spares?: Shape & { most: number }
  log: EgressLog
}

/** The walls of a sandbox stand; it may not be anybody's yet. */
interface Raised {
  name: string
  meta: Meta
  sandbox: RunningSandbox
  group: SandboxGroup | undefined
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

  const raise = async (name: string, spec: SandboxSpec, uid: number, signal: AbortSignal): Promise<Raised> => {
    const { cgroups, shared, root, seal } = await prepare()
    const [folder, runtime] = [folderOf(name), join(runtimeDir, name)]
    const meta: Meta = { spec, uid, paused: false }
    const folders = makeFolders(folder, meta, shared)
    folders.catch(() => undefined) // heard of below
    await mkdir(runtime, { recursive: true, mode: 0o755 })
    const group = await cgroups?.open(name, spec.limits)
    try {
      await folders
      const walls = { shared, ...root }
      const opening = { meta, spare: name.startsWith(sparePrefix), folder, runtime, walls, group, seal, signal }
      return { name, meta, group, sandbox: await openSandbox(opening) }
    } catch (error) {
      await group?.remove()
      throw error
    }
  }

  const forget = async (name: string): Promise<void> => {
    await removeFolder(folderOf(name))
    await rm(join(runtimeDir, name), { recursive: true, force: true })
  }

  const dismiss = async ({ name, sandbox, group }: Raised): Promise<void> => {
    await sandbox.close()
    await group?.remove()
    await forget(name)
  }

  const { most, ...shape } = options.spares ?? { most: 0, ...unlike }
  const spares = keepSpares<Raised>({
    most,
    shape,
    make: (signal) => {
      const id = randomUUID()
      const name = `${sparePrefix}${id}`
      return raise(name, { ...shape, id, image: null, env: {} }, tenantUid(id), signal).catch(
        async (error: unknown) => {
          await forget(name)
          throw error
        },
      )
    },
    usable: ({ sandbox }) => sandbox.running(),
    dismiss,
  })

  /** A spare one becomes that of this tenant: its folders take his name, and hear of him. */
  const takeOver = async (spare: Raised, spec: SandboxSpec): Promise<Raised> => {
    const { id } = spec
    const one = { ...spare, name: id, meta: { ...spare.meta, spec } }
    const { shared } = await prepare()
    try {
      await rename(folderOf(spare.name), folderOf(id))
      await rename(join(runtimeDir, spare.name), join(runtimeDir, id))
      await makeFolders(folderOf(id), one.meta, shared)
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
    const spare = known === undefined ? spares.take(spec) : undefined
    if (spare !== undefined) return takeOver(spare, spec)
    return raise(spec.id, spec, known?.uid ?? tenantUid(spec.id), signal)
  }

  const open = async (spec: SandboxSpec, signal: AbortSignal): Promise<void> => {
    const { id } = spec
    const { sandbox, group } = await raised(spec, signal)
    let closeEgress: (() => Promise<void>) | undefined
    try {
      closeEgress = await proxy.listen(id, join(runtimeDir, id, 'egress.sock'))
    } catch (error) {
      await sandbox.close()
      await group?.remove()
      throw error
    }
    const disk = watchDisk({
      folders: writableFolders(folderOf(id)),
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
      if (one === undefined) await spares.rest(() => open(spec, signal))
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
        await forget(id)
      }),
    async hands(id) {
      const one = running.get(id)
      if (one === undefined) throw new SandboxGone(`sandbox ${id} is not running`)
      if (one.paused) throw new SandboxGone(`sandbox ${id} is paused`)
      return one.hands
    },
    onEnd: (listener) => void listeners.push(listener),
    async [Symbol.asyncDispose]() {
      await Promise.all([spares.close(), ...[...running.keys()].map((id) => inTurn(id, () => stop(id)))])
      await proxy.close()
      const prepared = await host?.catch(() => undefined)
      await prepared?.cgroups?.close()
      await prepared?.seal.close()
    },
  }
  return driver
}

/** No sandbox is like this. */
const unlike: Shape = { workingDir: '', limits: { memory: 0, processes: 0, cpu: 0, disk: 0 } }

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
  await removeSpares(stateDir, runtimeDir)
  return { cgroups, seal: await sealDescriptors(), shared: await hostEtc(), root: await hostRoot() }
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
