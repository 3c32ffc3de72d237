/*
 * Sandboxes as pods of a Kubernetes cluster. The cluster holds them: a claim of a volume is the sandbox, its pod is what runs of
 * it. So a pause is the end of the pod, and both outlive this program, which finds them by their labels at its next start and
 * goes on with all that runs in them; also its orderly end leaves them, since that is what an update of it is.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import { oneByOne } from '../disk.ts'
import type { Driver, SandboxSpec } from '../driver.ts'
import { SandboxGone } from '../driver.ts'
import { type Door, openDoor } from '../egress-door.ts'
import { egressProxy, type EgressLog } from '../egress-proxy.ts'
import type { Dial, Gate } from '../egress.ts'
import { type Adopt, driverOf, type Engine, type Held, lasting } from '../frame.ts'
import { inside, isSandboxId } from '../inside.ts'
import { type Cluster, openCluster } from './cluster.ts'
import { doctor } from './doctor.ts'
import { enterPod, type Ground } from './enter.ts'
import {
  claims,
  ensurePolicies,
  recall,
  rememberPaused,
  removeClaim,
  removePod,
  removePolicy,
  startPod,
} from './objects.ts'
import { labels, objectName, recalled, type Shape } from './pod.ts'
import { type Pods, watchPods } from './pods.ts'
import { endOf, isUp } from './reasons.ts'

export interface KubernetesDriverOptions {
  /** Folder where this installation keeps its name; made with mode 0700. */
  stateDir: string
  egress: { gate: Gate; dial: Dial; ca?: string }
  /** Path; null: the account of the pod this runs in, or the user's own file. */
  kubeconfig: string | null
  /** Null: that of the account or the context. */
  namespace: string | null
  /** Image of a sandbox whose spec names none. */
  image: string
  /** Image of the container that keeps the way out: a POSIX shell and socat. */
  wayImage: string
  /** `host:port` of this program, as pods reach it, to listen on. Null: the first address of this machine, any port. */
  egressAddress: { host: string; port: number } | null
  storageClass: string | null
  runtimeClass: string | null
  log: EgressLog
}

export function kubernetesDriver(options: KubernetesDriverOptions): Driver {
  return driverOf((adopt) => kubernetesEngine(options, adopt))
}

/** All that a started engine has. */
interface Host extends Ground {
  pods: Pods
  shape: Shape
}

const adoptMs = 30_000

function kubernetesEngine(options: KubernetesDriverOptions, adopt: Adopt): Engine {
  const stateDir = resolve(options.stateDir)
  const proxy = egressProxy({ ...options.egress, log: options.log })
  const countInTurn = oneByOne()
  let cluster: Cluster | undefined
  const connect = () => (cluster ??= openCluster(options.kubeconfig, options.namespace))
  let opened: Host | undefined

  const ready = lasting(async (): Promise<Host> => {
    const cluster = connect()
    const installation = await nameOf(stateDir)
    const pods = await watchPods(cluster, `${labels.installation}=${installation}`)
    let door: Door | undefined
    try {
      door = await openDoor(...addressOf(options.egressAddress))
      await ensurePolicies(cluster, installation, door)
      const { wayImage, storageClass, runtimeClass } = options
      const shape = { installation, wayImage, storageClass, runtimeClass }
      const giveUp = (id: string) => void removePod({ cluster, pods, shape }, id).catch(() => undefined)
      const host = { cluster, proxy, door, countInTurn, giveUp, pods, shape }
      await adoptAll(host)
      return (opened = host)
    } catch (error) {
      await Promise.all([pods.close(), door?.close()])
      throw error
    }
  })

  /** What a former life of this program left running. What cannot be entered any more is ended; its files stay. */
  const adoptAll = async (host: Host): Promise<void> => {
    const known = new Map((await claims(host)).map((claim) => [claim.metadata?.labels?.[labels.sandbox], claim]))
    const found = host.pods.all().map(async (pod) => {
      const id = pod.metadata?.labels?.[labels.sandbox] ?? ''
      const claim = known.get(id)
      const memory = claim === undefined ? undefined : recalled(claim)
      const usable = endOf(pod) === undefined && isUp(pod)
      if (memory === undefined || memory.paused || !usable) return removePod(host, id)
      try {
        adopt(id, await held(host, memory.spec, AbortSignal.timeout(adoptMs)), false)
      } catch (error) {
        options.log(`sandbox ${id} could not be entered again: ${String(error)}`)
        await removePod(host, id)
      }
    })
    await Promise.all(found)
  }

  /** Takes charge of a pod that runs. */
  const held = async (host: Host, spec: SandboxSpec, signal: AbortSignal): Promise<Held> => {
    const one = await enterPod(host, spec, signal)
    const over = new AbortController()
    const ended = host.pods.until(objectName(spec.id), endOf, over.signal)
    const leave = () => {
      over.abort(new Error('nobody watches it any more'))
      return one.close()
    }
    return {
      hands: one.hands,
      limitsHit: one.limitsHit,
      ended,
      leave,
      async close() {
        await leave()
        await removePod(host, spec.id)
      },
    }
  }

  return {
    kind: 'kubernetes',
    workspaceOf: () => inside.workspace,
    ready,
    async open(spec, signal, progress) {
      const host = await ready()
      try {
        await startPod(host, spec, spec.image ?? options.image, signal, progress)
        return await held(host, spec, signal)
      } catch (error) {
        await removePod(host, spec.id)
        throw error
      }
    },
    recall: async (id) => recall(await ready(), id),
    async remember(id, paused) {
      if (!(await rememberPaused(await ready(), id, paused))) throw new SandboxGone(`there is no sandbox ${id}`)
    },
    async ids() {
      const host = await ready()
      const all = [...(await claims(host)), ...host.pods.all()].map(
        (one) => one.metadata?.labels?.[labels.sandbox] ?? '',
      )
      return [...new Set(all)].filter(isSandboxId)
    },
    async forget(id) {
      const host = await ready()
      await removePod(host, id)
      await removeClaim(host, id)
    },
    doctor: (driver, signal) => doctor({ driver, connect, ready, options }, signal),
    async close() {
      await proxy.close()
      if (opened === undefined) return
      const { pods, door } = opened
      if ((await claims(opened).catch(() => [{}])).length === 0) await removePolicy(opened)
      await Promise.all([pods.close(), door.close()])
    },
  }
}

/** Kept beside what else this installation keeps: two servers of one namespace never take each other's sandboxes. */
async function nameOf(stateDir: string): Promise<string> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 })
  const path = join(stateDir, 'installation')
  const kept = () => readFile(path, 'utf8').then((text) => text.trim())
  await writeFile(path, `${randomUUID()}\n`, { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return kept()
}

function addressOf(given: { host: string; port: number } | null): [host: string, port: number] {
  if (given !== null) return [given.host, given.port]
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? [])
  const first = all.find(({ internal, family }) => !internal && family === 'IPv4') ?? all.find((one) => !one.internal)
  if (first === undefined) throw new Error('this machine has no address that pods could reach')
  return [first.address, 0]
}
