/*
 * The pods of this installation as the cluster tells of them: listed once, then watched. Nothing here asks twice; whoever
 * waits for a pod is woken by what changed.
 */
import { makeInformer, type V1Pod } from '@kubernetes/client-node'
import { type Cluster, ClusterError, said } from './cluster.ts'

export interface Pods {
  /** As last told. */
  get(name: string): V1Pod | undefined
  all(): V1Pod[]
  /** Resolves with the first answer of `look` that is not undefined: asked now, and whenever this pod has changed. Rejects with what it throws, and when the signal fires. */
  until<T>(name: string, look: (pod: V1Pod | undefined) => T | undefined, signal: AbortSignal): Promise<T>
  /** Resolves when this pod has changed, or after so many milliseconds. */
  changed(name: string, ms: number): Promise<void>
  close(): Promise<void>
}

const againMs = 1_000

/** Rejects when they cannot be listed. */
export async function watchPods({ config, core, namespace }: Cluster, labelSelector: string): Promise<Pods> {
  const list = () => core.listNamespacedPod({ namespace, labelSelector })
  const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/pods`, list, labelSelector)
  const waiting = new Map<string, Set<() => void>>()
  let closed = false
  let timer: NodeJS.Timeout | undefined
  const changed = ({ metadata }: V1Pod) => {
    for (const wake of waiting.get(metadata?.name ?? '') ?? []) wake()
  }
  informer.on('change', changed)
  informer.on('error', () => {
    if (!closed) timer = setTimeout(() => void informer.start().catch(() => undefined), againMs).unref()
  })
  await core.listNamespacedPod({ namespace, labelSelector, limit: 1 }).catch((cause: unknown) => {
    throw new ClusterError(`the pods of the namespace ${namespace} cannot be listed: ${said(cause)}`, { cause })
  })
  await informer.start()
  const wakesOf = (name: string, wake: () => void) => {
    const wakes = waiting.get(name) ?? new Set()
    waiting.set(name, wakes.add(wake))
    return () => {
      wakes.delete(wake)
      if (wakes.size === 0) waiting.delete(name)
    }
  }
  const get = (name: string) => informer.get(name, namespace)
  return {
    get,
    all: () => [...informer.list()],
    until<T>(name: string, look: (pod: V1Pod | undefined) => T | undefined, signal: AbortSignal): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const check = () => {
        try {
          const found = look(get(name))
          if (found !== undefined) resolve(found)
        } catch (error) {
          reject(error as Error)
        }
      }
      const abort = () => reject(signal.reason as Error)
      const sleepOn = wakesOf(name, check)
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
      else check()
      return promise.finally(() => {
        sleepOn()
        signal.removeEventListener('abort', abort)
      })
    },
    changed(name, ms) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const forget = wakesOf(name, resolve)
      const timer = setTimeout(resolve, ms)
      return promise.finally(() => (forget(), clearTimeout(timer)))
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await informer.stop()
    },
  }
}
