/*
 * Sandboxes as containers of an engine on this machine that speaks Docker's API. The engine holds them, so they outlive a
 * crash of the server, which finds them by their labels and goes on with all that runs in them; their files lie in a folder
 * of ours, so they outlive the container. An orderly end of the server ends its containers and keeps their files.
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { localDisks, oneByOne, watchDisk } from '../disk.ts'
import type { Driver, SandboxSpec } from '../driver.ts'
import { egressProxy, type EgressLog } from '../egress-proxy.ts'
import type { Dial, Gate } from '../egress.ts'
import { readMeta, rememberPaused, writableFolders } from '../folder.ts'
import { type Adopt, driverOf, type Engine, type Held, lasting } from '../frame.ts'
import { handsOver } from '../hands.ts'
import { hitLimits } from '../hit-limits.ts'
import { inside, isSandboxId } from '../inside.ts'
import { keepSpares, type Kept, sparePrefix } from '../spares.ts'
import { containerName } from './container.ts'
import { containersOf, endOf, pauseContainer, removeContainer } from './containers.ts'
import { doctor } from './doctor.ts'
import { engineFacts, ifThere, openEngine } from './engine.ts'
import { hitsOf } from './hits.ts'
import { findImage, imageHere } from './image.ts'
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
  /** Sandboxes that are kept ready before anybody asks for one, of images that the engine has. None unless said. */
  spares?: readonly Kept[]
  log: EgressLog
}

export function dockerDriver(options: DockerDriverOptions): Driver {
  return driverOf((adopt) => dockerEngine(options, adopt))
}

function dockerEngine(options: DockerDriverOptions, adopt: Adopt): Engine {
  const stateDir = resolve(options.stateDir)
  const runtimeDir = shortPath(options.runtimeDir)
  const engine = openEngine(options.host)
  const installation = createHash('sha256').update(stateDir).digest('hex').slice(0, 16)
  const raising = raiser({ engine, installation, stateDir, runtimeDir })
  const countInTurn = oneByOne()
  const diskOf = localDisks()
  const proxy = egressProxy({ ...options.egress, log: options.log })
  const folderOf = (id: string) => join(stateDir, id)
  const containerOf = (name: string) => engine.getContainer(containerName(name))

  /** Once, when the engine answers: what it can do, our tools, and the containers that a crash of the server left running. */
  const prepare = lasting(async (): Promise<Host> => {
    for (const folder of [stateDir, runtimeDir]) await mkdir(folder, { recursive: true, mode: 0o700 })
    const facts = await engineFacts(engine)
    const tools = await bringTools(stateDir)
    for (const { name, state } of await containersOf(engine, installation)) {
      const meta = isSandboxId(name) ? await readMeta(folderOf(name)) : undefined
      if (meta === undefined || (state !== 'running' && state !== 'paused')) await removeContainer(containerOf(name))
      else {
        const one = await raising.entered(name, meta, containerOf(name))
        adopt(name, await attach(one), one.paused)
      }
    }
    for (const folder of [stateDir, runtimeDir])
      for (const name of await readdir(folder)) if (name.startsWith(sparePrefix)) await raising.forget(name)
    return { facts, tools }
  })

  const spares = keepSpares<Raised>({
    kept: (options.spares ?? []).map((one) => ({ ...one, image: one.image ?? options.image })),
    async make(shape, signal) {
      const ground = await prepare()
      const image = await imageHere(engine, shape.image ?? options.image)
      if (image === undefined) throw new Error('the first start of an image fetches it, and tells how far it is')
      const id = randomUUID()
      const name = `${sparePrefix}${id}`
      const meta = { spec: { ...shape, id, env: {} }, uid: uidOf(id, ground.facts), paused: false }
      return raising.raise(name, meta, { ...ground, image }, signal).catch(async (error: unknown) => {
        await raising.forget(name)
        throw error
      })
    },
    usable: ({ control }) => control.open(),
    dismiss: raising.dismiss,
  })

  /** Takes charge of a container that is somebody's. */
  const attach = async ({ meta, container, control, pid, spawner: hand }: Raised): Promise<Held> => {
    const { id, limits } = meta.spec
    const sockets = join(runtimeDir, id)
    await mkdir(sockets, { recursive: true, mode: 0o755 })
    const closeEgress = await proxy.listen(() => id, join(sockets, 'egress.sock'))
    const disk = watchDisk({
      disk: diskOf(writableFolders(folderOf(id))),
      limit: limits.disk,
      onFull: (reason) => void hand.endAll(reason),
      inTurn: countInTurn,
    })
    let closed = false
    return {
      hands: handsOver(hand.spawn),
      limitsHit: async () => hitLimits(await hitsOf(pid), disk, limits),
      ended: endOf(container, () => closed).then((how) => hitLimits({ memory: 0, processes: 0 }, disk, limits) ?? how),
      async freeze(frozen) {
        if (frozen) {
          await hand.hold()
          return pauseContainer(container).catch((error: unknown) => {
            hand.release()
            throw error
          })
        }
        await ifThere(container.unpause())
        hand.release()
      },
      async close() {
        closed = true
        disk.close()
        hand.close()
        control.close()
        await closeEgress()
        await removeContainer(container)
      },
    }
  }

  const open = async (spec: SandboxSpec, signal: AbortSignal, progress: (line: string) => void): Promise<Held> => {
    const ground = await prepare()
    const known = await readMeta(folderOf(spec.id))
    const name = spec.image ?? options.image
    const spare = known === undefined ? spares.take({ ...spec, image: name }) : undefined
    try {
      if (spare !== undefined) return await attach(await raising.takeOver(spare, spec, ground))
      const image = await findImage(engine, name, signal, progress)
      const meta = { spec, uid: known?.uid ?? uidOf(spec.id, ground.facts), paused: false }
      return await attach(await raising.raise(spec.id, meta, { ...ground, image }, signal))
    } catch (error) {
      await removeContainer(containerOf(spec.id))
      throw error
    }
  }

  return {
    kind: 'docker',
    workspaceOf: () => inside.workspace,
    ready: prepare,
    open: (spec, signal, progress) => spares.rest(() => open(spec, signal, progress)),
    recall: (id) => readMeta(folderOf(id)),
    remember: (id, paused) => rememberPaused(folderOf(id), paused),
    async ids() {
      const containers = await containersOf(engine, installation)
      const ids = new Set([...(await readdir(stateDir)), ...containers.map(({ name }) => name)])
      return [...ids].filter(isSandboxId)
    },
    async forget(id) {
      await removeContainer(containerOf(id))
      await raising.forget(id)
    },
    doctor: (driver, signal) => doctor(driver, engine, options, signal),
    async close() {
      await Promise.allSettled([spares.close()])
      await proxy.close()
    },
  }
}

function shortPath(path: string): string {
  const whole = resolve(path)
  if (whole.length > 50) throw new Error(`runtimeDir is too long for unix sockets (50 characters): ${whole}`)
  return whole
}
