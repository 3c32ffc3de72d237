/*
 * Sandboxes as containers of an engine on this machine that speaks Docker's API. The engine holds them, so they outlive a
 * crash of the server, which finds them by their labels and goes on with all that runs in them; their files lie in a folder
 * of ours, so they outlive the container. An orderly end of the server ends its containers and keeps their files.
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { oneByOne, watchDisk, type DiskWatch } from '../disk.ts'
import type { Driver, Hands, SandboxSpec, Seen } from '../driver.ts'
import { SandboxGone } from '../driver.ts'
import { egressProxy, type EgressLog } from '../egress-proxy.ts'
import type { Dial, Gate } from '../egress.ts'
import { readMeta, writableFolders, writeMeta } from '../folder.ts'
import { handsOver } from '../hands.ts'
import { hitLimits } from '../hit-limits.ts'
import { isSandboxId, refuseWorkingDir } from '../inside.ts'
import { keepSpares, type Shape, sparePrefix } from '../spares.ts'
import { turns } from '../turns.ts'
import { containerName } from './container.ts'
import { containersOf, endOf, removeContainer } from './containers.ts'
import { doctor } from './doctor.ts'
import { engineFacts, ifThere, openEngine } from './engine.ts'
import { hitsOf } from './hits.ts'
import { findImage } from './image.ts'
import { type Host, type Raised, raiser, uidOf } from './raise.ts'
import { bringTools } from './tools.ts'

export interface DockerDriverOptions {
  /** Folder of the sandboxes' files; made with mode 0700. */
  stateDir: string
  /** Folder of sockets: a short path, at most 50 characters; made with mode 0700. */
  runtimeDir: string
  egress: { gate: Gate; dial: Dial }
  /** As in DOCKER_HOST: `unix:///var/run/docker.sock`. */
  host: string
  /** Image of a sandbox whose spec names none. */
  image: string
  /** Sandboxes of the usual image that are kept ready before anybody asks for one. None unless said. */
  spares?: Shape & { most: number }
  log: EgressLog
}

/** Somebody's container that runs, or is frozen. */
interface Running extends Pick<Raised, 'container' | 'pid' | 'spawner' | 'paused'> {
  hands: Hands
  disk: DiskWatch
  close: () => Promise<void>
}

const engineBackMs = 1_000

export function dockerDriver(options: DockerDriverOptions): Driver {
  const stateDir = resolve(options.stateDir)
  const runtimeDir = shortPath(options.runtimeDir)
  const engine = openEngine(options.host)
  const installation = createHash('sha256').update(stateDir).digest('hex').slice(0, 16)
  const raising = raiser({ engine, installation, stateDir, runtimeDir })
  const running = new Map<string, Running>()
  const [inTurn, countInTurn] = [turns(), oneByOne()]
  const listeners: ((seen: Seen) => void)[] = []
  const proxy = egressProxy({ ...options.egress, log: options.log })
  let host: Promise<Host> | undefined
  let closed = false
  const folderOf = (id: string) => join(stateDir, id)

  /** Once, when the engine answers: what it can do, our tools, and the containers that a crash of the server left running. */
  const prepare = () => {
    const preparing = (host ??= prepareHost())
    preparing.catch(() => (host = undefined))
    return preparing
  }
  const prepareHost = async (): Promise<Host> => {
    for (const folder of [stateDir, runtimeDir]) await mkdir(folder, { recursive: true, mode: 0o700 })
    const facts = await engineFacts(engine)
    const tools = await bringTools(stateDir)
    for (const { name, state } of await containersOf(engine, installation)) {
      const meta = isSandboxId(name) ? await readMeta(folderOf(name)) : undefined
      const container = engine.getContainer(containerName(name))
      if (meta === undefined || (state !== 'running' && state !== 'paused')) await removeContainer(container)
      else await attach(await raising.entered(name, meta, container))
    }
    for (const folder of [stateDir, runtimeDir])
      for (const name of await readdir(folder)) if (name.startsWith(sparePrefix)) await raising.forget(name)
    return { facts, tools }
  }

  const { most, ...shape } = options.spares ?? { most: 0, ...unlike }
  const spares = keepSpares<Raised>({
    most,
    shape,
    async make(signal) {
      const ground = await prepare()
      const id = randomUUID()
      const name = `${sparePrefix}${id}`
      const image = await findImage(engine, options.image, signal, () => undefined)
      const meta = { spec: { ...shape, id, image: null, env: {} }, uid: uidOf(id, ground.facts), paused: false }
      return raising.raise(name, meta, { ...ground, image }, signal).catch(async (error: unknown) => {
        await raising.forget(name)
        throw error
      })
    },
    usable: () => true,
    dismiss: raising.dismiss,
  })

  /** Takes charge of a container that is somebody's. */
  const attach = async ({ meta, container, control, pid, paused, spawner: hand }: Raised): Promise<void> => {
    const { spec } = meta
    const sockets = join(runtimeDir, spec.id)
    await mkdir(sockets, { recursive: true, mode: 0o755 })
    const closeEgress = await proxy.listen(spec.id, join(sockets, 'egress.sock'))
    const disk = watchDisk({
      folders: writableFolders(folderOf(spec.id)),
      limit: spec.limits.disk,
      onFull: (reason) => void hand.endAll(reason),
      inTurn: countInTurn,
    })
    const close = async () => {
      disk.close()
      hand.close()
      control.close()
      await closeEgress()
    }
    const one: Running = { container, pid, hands: handsOver(hand.spawn), spawner: hand, disk, paused, close }
    running.set(spec.id, one)
    void watch(spec, one)
  }

  /** Waits for the end of a container, also while its engine is away. */
  const watch = async ({ id, limits }: SandboxSpec, one: Running): Promise<void> => {
    let how: string | undefined
    while (how === undefined) {
      const end: unknown = await one.container.wait().catch(() => undefined)
      if (running.get(id) !== one || closed) return
      how = await endOf(one.container, end)
      if (how === undefined) await sleep(engineBackMs, undefined, { ref: false })
    }
    const detail = hitLimits({ memory: 0, processes: 0 }, one.disk, limits) ?? how
    const stopped = await inTurn(id, async () => running.get(id) === one && (await stop(id), true))
    if (stopped) for (const listener of listeners) listener({ id, state: 'stopped', detail })
  }

  /** The container goes, the files stay. */
  const stop = async (id: string): Promise<void> => {
    const one = running.get(id)
    running.delete(id)
    await one?.close()
    await removeContainer(engine.getContainer(containerName(id)))
  }

  const open = async (spec: SandboxSpec, signal: AbortSignal, progress: (line: string) => void): Promise<void> => {
    const ground = await prepare()
    const known = await readMeta(folderOf(spec.id))
    const usual = spec.image === null || spec.image === options.image
    const spare = known === undefined && usual ? spares.take(spec) : undefined
    try {
      if (spare !== undefined) return await attach(await raising.takeOver(spare, spec, ground))
      const image = await findImage(engine, spec.image ?? options.image, signal, progress)
      const meta = { spec, uid: known?.uid ?? uidOf(spec.id, ground.facts), paused: false }
      await attach(await raising.raise(spec.id, meta, { ...ground, image }, signal))
    } catch (error) {
      await stop(spec.id)
      throw error
    }
  }

  const look = async (id: string): Promise<Seen> => {
    await prepare()
    const meta = isSandboxId(id) ? await readMeta(folderOf(id)) : undefined
    if (meta === undefined) return { id, state: 'missing', detail: null }
    const one = running.get(id)
    if (one === undefined) return { id, state: meta.paused ? 'paused' : 'stopped', detail: null }
    const detail = hitLimits(await hitsOf(one.pid), one.disk, meta.spec.limits) ?? null
    return { id, state: one.paused ? 'paused' : 'running', detail }
  }

  const setPaused = async (id: string, one: Running | undefined, paused: boolean) => {
    if (one !== undefined) {
      if (paused) await one.spawner.hold()
      await ifThere(paused ? one.container.pause() : one.container.unpause())
      if (!paused) one.spawner.release()
      one.paused = paused
    }
    const meta = await readMeta(folderOf(id))
    if (meta === undefined) throw new SandboxGone(`there is no sandbox ${id}`)
    await writeMeta(folderOf(id), { ...meta, paused })
  }

  const start = async (
    spec: SandboxSpec,
    signal: AbortSignal,
    progress: (line: string) => void = () => undefined,
  ): Promise<void> => {
    const refusal = refuseWorkingDir(spec.workingDir)
    if (refusal !== undefined) throw new Error(refusal)
    await inTurn(spec.id, async () => {
      signal.throwIfAborted()
      await prepare()
      const one = running.get(spec.id)
      if (one === undefined) await spares.rest(() => open(spec, signal, progress))
      else if (one.paused) await setPaused(spec.id, one, false)
    })
  }

  const driver: Driver = {
    kind: 'docker',
    start,
    resume: start,
    look,
    doctor: (signal) => doctor(driver, engine, options, signal),
    async list() {
      await prepare()
      const names = (await readdir(stateDir)).filter(isSandboxId)
      const containers = (await containersOf(engine, installation)).map(({ name }) => name)
      const ids = new Set([...names, ...containers.filter(isSandboxId)])
      return Promise.all([...ids].map(look))
    },
    pause: (id) =>
      inTurn(id, async () => {
        await prepare()
        const one = running.get(id)
        if (!one?.paused) await setPaused(id, one, true)
      }),
    remove: (id) =>
      inTurn(id, async () => {
        await prepare()
        await stop(id)
        await raising.forget(id)
      }),
    async hands(id) {
      await prepare()
      const one = running.get(id)
      if (one === undefined) throw new SandboxGone(`sandbox ${id} is not running`)
      if (one.paused) throw new SandboxGone(`sandbox ${id} is paused`)
      return one.hands
    },
    onEnd: (listener) => void listeners.push(listener),
    async [Symbol.asyncDispose]() {
      closed = true
      const ends = [...running.keys()].map((id) => inTurn(id, () => stop(id)))
      await Promise.allSettled([spares.close(), ...ends])
      await proxy.close()
    },
  }
  return driver
}

function shortPath(path: string): string {
  const whole = resolve(path)
  if (whole.length > 50) throw new Error(`runtimeDir is too long for unix sockets (50 characters): ${whole}`)
  return whole
}

/** Of a shape that no spec has. */
const unlike: Shape = { workingDir: '', limits: { memory: 0, processes: 0, cpu: 0, disk: 0 } }
