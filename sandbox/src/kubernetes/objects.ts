/* What is asked of the cluster: claims, pods and policies made so and gone, each safe to ask twice. */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CoreV1Event,
  PatchStrategy,
  setHeaderOptions,
  type V1NetworkPolicy,
  type V1PersistentVolumeClaim,
} from '@kubernetes/client-node'
import type { SandboxSpec } from '../driver.ts'
import type { Door } from '../egress-door.ts'
import { type Cluster, ClusterError, ifNew, ifThere, plainly } from './cluster.ts'
import {
  claimOf,
  closedPolicy,
  labels,
  notes,
  notesOf,
  objectName,
  podOf,
  recalled,
  type Shape,
  wayPolicy,
} from './pod.ts'
import type { Pods } from './pods.ts'
import { hasEnded, hindrance, isUp } from './reasons.ts'

export interface Place {
  cluster: Cluster
  pods: Pods
  shape: Shape
}

const removeMs = 60_000
const eventsMs = 1_500
const pollMs = 100
const againMs = 2_000

/** All of ours. */
export async function claims({ cluster, shape }: Omit<Place, 'pods'>): Promise<V1PersistentVolumeClaim[]> {
  const { namespace, core } = cluster
  const labelSelector = `${labels.installation}=${shape.installation}`
  return (await plainly(core.listNamespacedPersistentVolumeClaim({ namespace, labelSelector }))).items
}

/** What is remembered of a sandbox of ours. One that is on its way out is no more. */
export async function recall({ cluster, shape }: Place, id: string) {
  const { namespace, core } = cluster
  const claim = await ifThere(core.readNamespacedPersistentVolumeClaim({ namespace, name: objectName(id) }))
  const { labels: its = {}, deletionTimestamp } = claim?.metadata ?? {}
  if (claim === undefined || its[labels.installation] !== shape.installation) return undefined
  return deletionTimestamp === undefined ? recalled(claim) : undefined
}

const patch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)

async function note({ namespace, core }: Cluster, id: string, annotations: Record<string, string>): Promise<boolean> {
  const body = { metadata: { annotations } }
  const asked = core.patchNamespacedPersistentVolumeClaim({ namespace, name: objectName(id), body }, patch)
  return (await ifThere(asked)) !== undefined
}

/** False: there is no such sandbox. */
export const rememberPaused = ({ cluster }: Place, id: string, paused: boolean): Promise<boolean> =>
  note(cluster, id, { [notes.paused]: String(paused) })

/** Resolves when its containers run. */
export async function startPod(
  place: Place,
  spec: SandboxSpec,
  image: string,
  signal: AbortSignal,
  progress: (line: string) => void,
): Promise<void> {
  const { cluster, shape } = place
  const { namespace, core } = cluster
  const name = objectName(spec.id)
  await ensureClaim(place, spec)
  await removePod(place, spec.id)
  signal.throwIfAborted()
  await plainly(core.createNamespacedPod({ namespace, body: podOf(spec, image, shape) }))
  await untilUp(place, name, signal, progress)
}

/** Its old files, or new ones. */
async function ensureClaim(place: Place, spec: SandboxSpec): Promise<void> {
  const { cluster, shape } = place
  const { namespace, core } = cluster
  const name = objectName(spec.id)
  const make = () => ifNew(core.createNamespacedPersistentVolumeClaim({ namespace, body: claimOf(spec, shape) }))
  if ((await make()) !== undefined) return
  const known = await plainly(core.readNamespacedPersistentVolumeClaim({ namespace, name }))
  if (known.metadata?.labels?.[labels.installation] !== shape.installation)
    throw new ClusterError(`the claim ${name} belongs to another installation`)
  if (known.metadata.deletionTimestamp !== undefined) {
    await removePod(place, spec.id)
    await removeClaim(place, spec.id)
    await make()
  } else await note(cluster, spec.id, notesOf(spec, false))
}

/** Says what it waits for, and gives up on what will not mend itself. */
async function untilUp({ cluster, pods }: Place, name: string, signal: AbortSignal, progress: (line: string) => void) {
  const done = new AbortController()
  const limit = AbortSignal.any([signal, done.signal])
  let why: string | undefined
  let hindered: string | undefined
  let giveUp: { reason: string; timer: NodeJS.Timeout } | undefined
  const hopeless = Promise.withResolvers<never>()
  hopeless.promise.catch(() => undefined)
  const say = (line: string) => {
    if (line !== why) progress((why = line))
  }
  const look = (pod: ReturnType<Pods['get']>): true | undefined => {
    if (pod === undefined) return undefined // it was just made
    if (isUp(pod)) return true
    const seen = hindrance(pod)
    hindered = seen?.text
    if (seen?.reason !== giveUp?.reason) {
      clearTimeout(giveUp?.timer)
      const end = () => hopeless.reject(new ClusterError(`the sandbox did not start: ${seen?.text}`))
      giveUp = seen && { reason: seen.reason, timer: setTimeout(end, seen.lastsAtMost ?? 2 ** 31 - 1).unref() }
    }
    if (seen !== undefined) say(`Waiting: ${seen.text}`)
    return undefined
  }
  const events = tellEvents(cluster, name, limit, say)
  try {
    await Promise.race([pods.until(name, look, limit), hopeless.promise])
  } catch (error) {
    const last = hindered ?? why
    if (signal.aborted && last !== undefined)
      throw new ClusterError(`the sandbox did not start in time: ${last}`, { cause: error })
    throw error
  } finally {
    clearTimeout(giveUp?.timer)
    done.abort()
    await events
  }
}

/** What the cluster is about, once it takes long: the image is fetched, the volume is mounted. */
async function tellEvents(
  { core, namespace }: Cluster,
  name: string,
  signal: AbortSignal,
  say: (line: string) => void,
) {
  const fieldSelector = `involvedObject.name=${name}`
  for (;;) {
    await sleep(eventsMs, undefined, { signal, ref: false }).catch(() => undefined)
    if (signal.aborted) return
    const found = await core.listNamespacedEvent({ namespace, fieldSelector }).catch(() => undefined)
    const at = ({ metadata }: CoreV1Event) => Number(metadata.creationTimestamp ?? 0)
    const last = found?.items.toSorted((a, b) => at(a) - at(b)).at(-1)
    if (last?.message !== undefined && !signal.aborted) say(last.message.slice(0, 500))
  }
}

/** Resolves when nothing of it runs; absent is fine. What is told wakes it, what is asked for counts. */
export async function removePod({ cluster, pods, shape }: Place, id: string): Promise<void> {
  const { core, namespace } = cluster
  const name = objectName(id)
  const deadline = performance.now() + removeMs
  const first = await ifThere(core.readNamespacedPod({ namespace, name }))
  if (first?.metadata?.labels?.[labels.installation] !== shape.installation) return
  const { uid } = first.metadata
  const remove = (grace: object) => ifThere(core.deleteNamespacedPod({ namespace, name, ...grace }))
  await remove({})
  for (;;) {
    const seen = await ifThere(core.readNamespacedPod({ namespace, name }))
    if (seen === undefined || seen.metadata?.uid !== uid) return
    // A node takes its time to strike out what has ended.
    if (hasEnded(seen)) await remove({ gracePeriodSeconds: 0 })
    else if (performance.now() > deadline) throw new ClusterError(`the pod ${name} does not end`)
    else await pods.changed(name, againMs)
  }
}

/** Resolves when its files are given back; absent is fine. */
export async function removeClaim({ cluster, shape }: Place, id: string): Promise<void> {
  const { core, namespace } = cluster
  const name = objectName(id)
  const deadline = performance.now() + removeMs
  const known = await ifThere(core.readNamespacedPersistentVolumeClaim({ namespace, name }))
  if (known?.metadata?.labels?.[labels.installation] !== shape.installation) return
  while ((await ifThere(core.deleteNamespacedPersistentVolumeClaim({ namespace, name }))) !== undefined) {
    if (performance.now() > deadline) throw new ClusterError(`the claim ${name} does not go`)
    await sleep(pollMs)
  }
}

/** The walls of the network stand before the first pod does. */
export async function ensurePolicies(cluster: Cluster, installation: string, { host, port }: Door): Promise<void> {
  for (const body of [closedPolicy, wayPolicy(installation, host, port)]) await ensure(cluster, body)
}

async function ensure({ networking, namespace }: Cluster, body: V1NetworkPolicy): Promise<void> {
  const name = body.metadata?.name ?? ''
  if ((await ifNew(networking.createNamespacedNetworkPolicy({ namespace, body }))) !== undefined) return
  await plainly(networking.replaceNamespacedNetworkPolicy({ namespace, name, body }))
}

export async function removePolicy({ cluster, shape }: Omit<Place, 'pods'>): Promise<void> {
  const { networking, namespace } = cluster
  const name = wayPolicy(shape.installation, '', 0).metadata?.name ?? ''
  await ifThere(networking.deleteNamespacedNetworkPolicy({ namespace, name })).catch(() => undefined)
}
