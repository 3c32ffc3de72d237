/*
 * Sandboxes as containers of an engine on this machine that speaks Docker's API. The engine holds them, so they outlive a
 * crash of the server, which finds them by their labels and goes on with all that runs in them; their files lie in a folder
 * of ours, so they outlive the container. An orderly end of the server ends its containers and keeps their files.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { oneByOne, watchDisk, type DiskWatch } from '../disk.ts'
import type { Driver, Hands, SandboxSpec, Seen } from '../driver.ts'
import { SandboxGone } from '../driver.ts'
import { egressProxy, type EgressLog } from '../egress-proxy.ts'
import type { Dial, Gate } from '../egress.ts'
import { etcFiles } from '../etc.ts'
import {
  makeTenantFolders,
  readMeta,
  removeFolder,
  tenantUid,
  writableFolders,
  writeMeta,
  type Meta,
} from '../folder.ts'
import { handsOver } from '../hands.ts'
import { hitLimits } from '../hit-limits.ts'
import { fileLimits, inside, isSandboxId, refuseWorkingDir } from '../inside.ts'
import { turns } from '../turns.ts'
import { containerName, containerOptions, labels } from './container.ts'
import { openControl } from './control.ts'
import { doctor } from './doctor.ts'
import { type Container, type Engine, type EngineFacts, engineFacts, ifThere, openEngine, plainly } from './engine.ts'
import { openExec } from './exec.ts'
import { hitsOf } from './hits.ts'
import { findImage } from './image.ts'
import { spawner, type Spawner } from './spawn.ts'
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
  log: EgressLog
}

/** A container that runs, or is frozen. */
interface Running {
  container: Container
  /** Its first process, as the host numbers it. */
  pid: number
  hands: Hands
  spawner: Spawner
  disk: DiskWatch
  paused: boolean
  /** Resolves when programs can be started in it and the way out listens. */
  ready: () => Promise<void>
  close: () => Promise<void>
}

interface Host {
  facts: EngineFacts
  tools: string
}

const startDeadlineMs = 60_000
const engineBackMs = 1_000

export function dockerDriver(options: DockerDriverOptions): Driver {
  const stateDir = resolve(options.stateDir)
  const runtimeDir = resolve(options.runtimeDir)
  if (runtimeDir.length > 50) throw new Error(`runtimeDir is too long for unix sockets (50 characters): ${runtimeDir}`)
  const engine = openEngine(options.host)
  const installation = createHash('sha256').update(stateDir).digest('hex').slice(0, 16)
  const running = new Map<string, Running>()
  const inTurn = turns()
  const countInTurn = oneByOne()
  const listeners: ((seen: Seen) => void)[] = []
  const proxy = egressProxy({ ...options.egress, log: options.log })
  let host: Promise<Host> | undefined
  let closed = false
  const folderOf = (id: string) => join(stateDir, id)
  const runtimeOf = (id: string) => join(runtimeDir, id)

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
    for (const { id, state } of await containersOf(engine, installation)) {
      const meta = await readMeta(folderOf(id))
      const container = engine.getContainer(containerName(id))
      if (meta !== undefined && (state === 'running' || state === 'paused')) await attach(meta, container)
      else await removeContainer(container)
    }
    return { facts, tools }
  }

  /** Takes charge of a container that runs. */
  const attach = async (meta: Meta, container: Container): Promise<Running> => {
    const { spec } = meta
    const { State: state } = await plainly(container.inspect())
    await mkdir(runtimeOf(spec.id), { recursive: true, mode: 0o755 })
    const closeEgress = await proxy.listen(spec.id, join(runtimeOf(spec.id), 'egress.sock'))
    const enter = (argv: readonly string[], terminal = false) => openExec(container, argv, terminal)
    const control = openControl(enter)
    const hand = spawner({
      enter,
      control,
      workingDir: spec.workingDir,
      limits: fileLimits(spec.limits),
      giveUp: () => void container.kill().catch(() => undefined),
    })
    const disk = watchDisk({
      folders: writableFolders(folderOf(spec.id)),
      limit: spec.limits.disk,
      onFull: (reason) => void hand.endAll(reason),
      inTurn: countInTurn,
    })
    const one: Running = {
      container,
      pid: state.Pid,
      hands: handsOver(hand.spawn),
      spawner: hand,
      disk,
      paused: state.Paused,
      ready: control.ready,
      async close() {
        disk.close()
        hand.close()
        control.close()
        await closeEgress()
      },
    }
    running.set(spec.id, one)
    void watch(spec, one)
    return one
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
    const { facts, tools } = await prepare()
    const { id } = spec
    const image = await findImage(engine, spec.image ?? options.image, signal, progress)
    const uid = facts.remapped ? inside.uid : tenantUid(id)
    const [folder, runtime] = [folderOf(id), runtimeOf(id)]
    await makeFolders({ spec, uid, paused: false }, folder, facts.remapped)
    await mkdir(runtime, { recursive: true, mode: 0o755 })
    signal.throwIfAborted()
    await removeContainer(engine.getContainer(containerName(id)))
    try {
      const walls = { spec, image, uid, installation, folder, runtime, tools }
      const container = await plainly(engine.createContainer(containerOptions(walls)))
      signal.throwIfAborted()
      await plainly(container.start())
      const one = await attach({ spec, uid, paused: false }, container)
      one.spawner.warm()
      await withDeadline(signal, one.ready())
    } catch (error) {
      await stop(id)
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
      if (one === undefined) await open(spec, signal, progress)
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
      const ids = new Set([...names, ...(await containersOf(engine, installation)).map(({ id }) => id)])
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
        await removeFolder(folderOf(id))
        await rm(runtimeOf(id), { recursive: true, force: true })
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
      await Promise.all([...running.keys()].map((id) => inTurn(id, () => stop(id).catch(() => undefined))))
      await proxy.close()
    },
  }
  return driver
}

async function containersOf(engine: Engine, installation: string): Promise<{ id: string; state: string }[]> {
  const filters = { label: [`${labels.installation}=${installation}`] }
  const found = await plainly(engine.listContainers({ all: true, filters }))
  return found.map(({ Labels, State }) => ({ id: Labels[labels.sandbox] ?? '', state: State }))
}

const removeMs = 30_000

/** Resolves when it is gone; absent is fine. */
async function removeContainer(container: Container): Promise<void> {
  const deadline = performance.now() + removeMs
  for (;;) {
    const failed = await container.remove({ force: true, v: true }).then(
      () => undefined,
      (error: { statusCode?: number }) => error,
    )
    if (failed === undefined || failed.statusCode === 404) return
    // 409: somebody else is removing it.
    if (failed.statusCode !== 409 || performance.now() > deadline) await plainly(Promise.reject(failed as Error))
    await sleep(50)
  }
}

/** For people; undefined while it runs, or nobody can tell. */
async function endOf(container: Container, end: unknown): Promise<string | undefined> {
  const seen = await ifThere(container.inspect()).catch(() => null)
  if (seen === null || seen?.State.Running) return undefined
  const code = (end as { StatusCode?: number } | undefined)?.StatusCode ?? seen?.State.ExitCode
  return seen?.State.OOMKilled ? 'out of memory' : `the container ended with code ${code ?? 'unknown'}`
}

async function makeFolders(meta: Meta, folder: string, remapped: boolean): Promise<void> {
  const etc = join(folder, 'etc')
  await mkdir(etc, { recursive: true, mode: 0o755 })
  // A remapped user is nobody that we could give files to. The folder above keeps others out.
  await makeTenantFolders(folder, meta.uid, remapped ? 0o777 : undefined)
  const { gitconfig = '', passwd = '', group = '' } = etcFiles(meta.spec, meta.uid)
  for (const [name, text] of Object.entries({ gitconfig, passwd, group }))
    await writeFile(join(etc, name), text, { mode: 0o644 })
  await writeMeta(folder, meta)
}

async function withDeadline(signal: AbortSignal, work: Promise<void>): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(startDeadlineMs)])
  const stopped = Promise.withResolvers<never>()
  const abort = () => stopped.reject(limit.reason)
  limit.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([work, stopped.promise])
  } finally {
    limit.removeEventListener('abort', abort)
    stopped.promise.catch(() => undefined)
    work.catch(() => undefined)
  }
}
