import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SandboxSpec } from '../driver.ts'
import { type Control, openControl } from '../entered/control.ts'
import { spawner, type Spawner } from '../entered/spawn.ts'
import { etcFiles } from '../etc.ts'
import { makeTenantFolders, type Meta, removeFolder, tenantUid, writeMeta } from '../folder.ts'
import { fileLimits, inside } from '../inside.ts'
import { containerName, containerOptions } from './container.ts'
import { removeContainer } from './containers.ts'
import { type Container, type Engine, type EngineFacts, plainly } from './engine.ts'
import { openExec } from './exec.ts'
import type { ImageFacts } from './image.ts'

/* Containers whose walls stand, and how one that was nobody's becomes a tenant's. */

/** A container that runs and can be entered; it may not be anybody's yet. */
export interface Raised {
  /** Of its folders and its container. */
  name: string
  meta: Meta
  container: Container
  /** Its first process, as the host numbers it. */
  pid: number
  paused: boolean
  control: Control
  spawner: Spawner
  /** From now on its programs have the variables of this spec. */
  belong: (spec: SandboxSpec) => void
}

/** What the engine can do, and our tools for its containers. */
export interface Host {
  facts: EngineFacts
  tools: string
}

interface Ground extends Host {
  image: ImageFacts
}

interface Parts {
  engine: Engine
  installation: string
  stateDir: string
  runtimeDir: string
}

const startDeadlineMs = 60_000

export type Raiser = ReturnType<typeof raiser>

export function raiser({ engine, installation, stateDir, runtimeDir }: Parts) {
  const folderOf = (name: string) => join(stateDir, name)
  const runtimeOf = (name: string) => join(runtimeDir, name)

  const forget = async (name: string): Promise<void> => {
    await removeFolder(folderOf(name))
    await rm(runtimeOf(name), { recursive: true, force: true })
  }

  /** A container that runs, with the ways into it. */
  const entered = async (name: string, meta: Meta, container: Container): Promise<Raised> => {
    const { State: state } = await plainly(container.inspect())
    const enter = (argv: readonly string[], terminal = false) => openExec(container, argv, terminal)
    const control = openControl(enter)
    let { env } = meta.spec
    const hand = spawner({
      enter,
      control,
      workingDir: inside.workspace,
      env: () => env,
      limits: fileLimits(meta.spec.limits),
      giveUp: () => void container.kill().catch(() => undefined),
    })
    const belong = (spec: SandboxSpec) => (env = spec.env)
    return { name, meta, container, pid: state.Pid, paused: state.Paused, control, spawner: hand, belong }
  }

  const dismiss = async ({ name, control, spawner: hand, container }: Raised): Promise<void> => {
    hand.close()
    control.close()
    await removeContainer(container)
    await forget(name)
  }

  /** Makes the folders and the container; resolves when programs can be started in it and the way out listens. */
  const raise = async (
    name: string,
    meta: Meta,
    { facts, tools, image }: Ground,
    signal: AbortSignal,
  ): Promise<Raised> => {
    const [folder, runtime] = [folderOf(name), runtimeOf(name)]
    await makeFolders(meta, folder, facts.remapped)
    await mkdir(runtime, { recursive: true, mode: 0o755 })
    await removeContainer(engine.getContainer(containerName(name)))
    signal.throwIfAborted()
    const walls = { name, spec: meta.spec, image, uid: meta.uid, installation, folder, runtime, tools }
    const container = await plainly(engine.createContainer(containerOptions(walls)))
    try {
      signal.throwIfAborted()
      await plainly(container.start())
      const one = await entered(name, meta, container)
      one.spawner.warm()
      await withDeadline(signal, one.control.ready())
      return one
    } catch (error) {
      await removeContainer(container)
      throw error
    }
  }

  /** A spare one becomes that of this tenant: its folders and its container take his name, and hear of him. */
  const takeOver = async (spare: Raised, spec: SandboxSpec, { facts }: Host): Promise<Raised> => {
    const one = { ...spare, name: spec.id, meta: { ...spare.meta, spec } }
    try {
      await rename(folderOf(spare.name), folderOf(spec.id))
      await rename(runtimeOf(spare.name), runtimeOf(spec.id))
      await makeFolders(one.meta, folderOf(spec.id), facts.remapped)
      await plainly(spare.container.rename({ name: containerName(spec.id) }))
      one.belong(spec)
      return one
    } catch (error) {
      await dismiss(spare)
      await dismiss(one)
      throw error
    }
  }

  return { entered, raise, takeOver, dismiss, forget }
}

/** An engine with users of its own has one for all. */
export const uidOf = (id: string, { remapped }: EngineFacts): number => (remapped ? inside.uid : tenantUid(id))

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
