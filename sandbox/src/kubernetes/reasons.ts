/*
 * Why a pod does not run yet, will not, or has ended, in words for people. What may mend itself is given time; what cannot is
 * told at once, and everything well before a start has to be over.
 */
import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import { ClusterError } from './cluster.ts'
import { containers } from './pod.ts'

/** How long a reason may last before it is the end of a start, in milliseconds. */
const patience: Record<string, number> = {
  InvalidImageName: 0,
  ErrImageNeverPull: 0,
  CreateContainerConfigError: 5_000,
  CreateContainerError: 15_000,
  RunContainerError: 5_000,
  ErrImagePull: 20_000,
  ImagePullBackOff: 20_000,
  // A cluster may be adding a node.
  Unschedulable: 90_000,
}

const imageTrouble = ['InvalidImageName', 'ErrImageNeverPull', 'ErrImagePull', 'ImagePullBackOff']

const stuck = (reason: string | undefined) => reason !== undefined && reason in patience

/** What keeps a pod from running; undefined when nothing does that it says. */
export interface Hindrance {
  reason: string
  /** For people. */
  text: string
  lastsAtMost: number | undefined
}

export function hindrance(pod: V1Pod): Hindrance | undefined {
  const unplaced = pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
  if (unplaced !== undefined) {
    const reason = unplaced.reason ?? 'Unschedulable'
    return hindranceOf(reason, `no node takes it: ${unplaced.message ?? reason}`)
  }
  for (const { name, image, state } of pod.status?.containerStatuses ?? []) {
    const { reason, message } = state?.waiting ?? {}
    if (reason === undefined || reason === 'ContainerCreating' || reason === 'PodInitializing') continue
    const what = imageTrouble.includes(reason) ? `image ${imageOf(pod, name) ?? image} cannot be had` : 'it cannot run'
    return hindranceOf(reason, `${what}: ${reason}${message === undefined ? '' : `: ${message}`}`)
  }
  return undefined
}

const hindranceOf = (reason: string, text: string): Hindrance => ({ reason, text, lastsAtMost: patience[reason] })

/** As it was asked for: a status may name it otherwise. */
const imageOf = (pod: V1Pod, container: string) => pod.spec?.containers.find(({ name }) => name === container)?.image

/** Every container runs. Throws when one has ended. */
export function isUp(pod: V1Pod): boolean {
  const end = endOf(pod)
  if (end !== undefined) throw new ClusterError(`the sandbox did not start: ${end}`)
  const seen = pod.status?.containerStatuses ?? []
  return seen.length === Object.keys(containers).length && seen.every(({ state }) => state?.running !== undefined)
}

/** How it ended; undefined while it runs or is on its way. */
export function endOf(pod: V1Pod | undefined): string | undefined {
  if (pod === undefined) return 'its pod was removed'
  const { phase, reason, message, containerStatuses = [] } = pod.status ?? {}
  if (phase === 'Failed' && reason !== undefined) return `its pod was ended: ${message ?? reason}`
  const ended = containerStatuses.map(containerEnd).find((one) => one !== undefined)
  if (ended !== undefined) return ended
  return pod.metadata?.deletionTimestamp === undefined ? undefined : 'its pod is being removed'
}

/** Every container that it had has ended, or never could begin. Only of a pod that is being removed: such a one begins no more. */
export function hasEnded({ status, spec }: V1Pod): boolean {
  const seen = status?.containerStatuses ?? []
  return (
    seen.length === spec?.containers.length &&
    seen.every(({ state }) => state?.terminated ?? stuck(state?.waiting?.reason))
  )
}

function containerEnd({ name, state }: V1ContainerStatus): string | undefined {
  const end = state?.terminated
  if (end === undefined) return undefined
  if (end.reason === 'OOMKilled')
    return name === containers.sandbox ? 'out of memory' : 'the way out needed too much memory'
  const said = end.message === undefined || end.message === '' ? '' : `: ${end.message.slice(0, 500)}`
  return `the container ${name} ended with code ${end.exitCode}${said}`
}
