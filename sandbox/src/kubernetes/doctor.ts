/* What a cluster must give, each with a line of its own; then a canary proves on itself what sandboxes are promised to be. */
import { randomUUID } from 'node:crypto'
import { type AddressInfo, createServer } from 'node:net'
import { broken, fine, tryCanary } from '../canary.ts'
import type { Driver, Finding, SandboxSpec } from '../driver.ts'
import { type Cluster, said, statusOf } from './cluster.ts'
import { openExec } from './exec.ts'
import { containers, objectName, podOf, type Shape } from './pod.ts'

interface Parts {
  driver: Driver
  connect: () => Cluster
  /** Rejects when this program cannot work with the cluster. */
  ready: () => Promise<{ door: { host: string } }>
  options: Omit<Shape, 'installation'> & { image: string; log: (line: string) => void }
}

export async function doctor({ driver, connect, ready, options }: Parts, signal: AbortSignal): Promise<Finding[]> {
  const reached = await reach(connect).catch((error: Error) => error)
  if (reached instanceof Error)
    return [broken('cluster', said(reached), 'name it with KUBECONFIG, or run in a pod of it')]
  const { cluster, version } = reached
  const about = [
    { ...fine('cluster'), detail: `version ${version}, namespace ${cluster.namespace}` },
    ...(await permissions(cluster)),
    await podSecurity(cluster, options),
    await storage(cluster, options.storageClass),
  ]
  if (about.some(({ ok, fatal }) => !ok && fatal)) return about
  const host = await ready().catch((error: Error) => error)
  if (host instanceof Error) return [...about, broken('a sandbox starts', host.message, null)]
  const found = await tryCanary(driver, options.image, signal, {
    progress: options.log,
    inPods: true,
    also: async (id) => [await policyHolds(cluster, id, host.door.host)],
  })
  if (!(found instanceof Error)) return [...about, ...found]
  return [...about, broken('a sandbox starts', found.message, fixOf(found.message))]
}

async function reach(connect: () => Cluster): Promise<{ cluster: Cluster; version: string }> {
  const cluster = connect()
  return { cluster, version: (await cluster.version.getCode()).gitVersion }
}

/** Group, resource, verbs: what the role in deploy/kubernetes allows. */
const needs: readonly [group: string, resource: string, verbs: readonly string[]][] = [
  ['', 'pods', ['get', 'list', 'watch', 'create', 'delete']],
  ['', 'pods/exec', ['get', 'create']],
  ['', 'persistentvolumeclaims', ['get', 'list', 'create', 'patch', 'delete']],
  ['', 'events', ['list']],
  ['networking.k8s.io', 'networkpolicies', ['create', 'update', 'delete']],
]

async function permissions({ authorization, namespace }: Cluster): Promise<Finding[]> {
  const asked = needs.flatMap(([group, whole, verbs]) => {
    const [resource = '', subresource] = whole.split('/')
    return verbs.map(async (verb) => {
      const resourceAttributes = { group, resource, verb, namespace, ...(subresource !== undefined && { subresource }) }
      const body = { spec: { resourceAttributes } }
      const { status } = await authorization.createSelfSubjectAccessReview({ body })
      return status?.allowed ? undefined : `${verb} ${whole}`
    })
  })
  const check = `permissions in ${namespace}`
  try {
    const missing = (await Promise.all(asked)).filter((one) => one !== undefined)
    if (missing.length === 0) return [fine(check)]
    return [broken(check, `it may not ${missing.join(', ')}`, 'apply deploy/kubernetes/access.yaml to that namespace')]
  } catch (error) {
    return [broken(check, `they cannot be asked for: ${said(error)}`, null)]
  }
}

/** The cluster judges a pod without making it: its admission, its quotas, its pod security. */
async function podSecurity({ core, namespace }: Cluster, options: Parts['options']): Promise<Finding> {
  const check = 'the cluster admits such pods'
  const mebibyte = 2 ** 20
  const spec: SandboxSpec = {
    id: randomUUID(),
    image: null,
    env: {},
    limits: { memory: 256 * mebibyte, processes: 64, cpu: 1, disk: 64 * mebibyte },
  }
  const body = podOf(spec, options.image, { ...options, installation: 'doctor' })
  try {
    await core.createNamespacedPod({ namespace, body, dryRun: 'All' })
    return fine(check)
  } catch (error) {
    const fix = statusOf(error) === 404 ? `kubectl create namespace ${namespace}` : null
    return broken(check, said(error), fix)
  }
}

const usual = 'storageclass.kubernetes.io/is-default-class'

async function storage({ storage: api }: Cluster, wanted: string | null): Promise<Finding> {
  const check = 'storage class'
  const warn = (detail: string, fix: string | null, fatal = false): Finding => ({
    check,
    ok: false,
    fatal,
    detail,
    fix,
  })
  try {
    const { items } = await api.listStorageClass()
    const names = items.map(({ metadata }) => metadata?.name ?? '')
    const found = items.find(({ metadata }) =>
      wanted === null ? metadata?.annotations?.[usual] === 'true' : metadata?.name === wanted,
    )
    if (found !== undefined) return { ...fine(check), detail: `${found.metadata?.name} (${found.provisioner})` }
    const offered = `there are: ${names.join(', ') || 'none'}`
    const fix = 'name one with PARLEY_KUBERNETES_STORAGE_CLASS'
    return warn(wanted === null ? `none is the default; ${offered}` : `there is no ${wanted}; ${offered}`, fix, true)
  } catch (error) {
    return warn(`they cannot be read: ${said(error)}`, 'apply deploy/kubernetes/access.yaml')
  }
}

/** A port of ours that no policy names must not be reached from a sandbox. */
async function policyHolds(cluster: Cluster, id: string, host: string): Promise<Finding> {
  const check = 'the network policy is enforced'
  const reached = Promise.withResolvers<void>()
  const server = createServer((socket) => (socket.destroy(), reached.resolve()))
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve))
    const { port } = server.address() as AddressInfo
    const at = host.includes(':') ? `TCP6:[${host}]` : `TCP4:${host}`
    const script = `socat -T1 - ${at}:${port},connect-timeout=3 </dev/null >/dev/null 2>&1; :`
    const exec = await openExec(
      cluster,
      { pod: objectName(id), container: containers.way },
      ['/bin/sh', '-c', script],
      false,
    )
    const open = await Promise.race([reached.promise.then(() => true), exec.ended.then(() => false)])
    if (!open) return fine(check)
    return broken(
      check,
      'it is not: a sandbox reaches the network past the proxy',
      'use a network plugin that enforces network policies (Calico, Cilium, Antrea, …)',
    )
  } catch (error) {
    return broken(check, `it could not be tried: ${said(error)}`, null)
  } finally {
    server.close()
  }
}

const fixOf = (message: string): string | null =>
  /image \S+ cannot be had/.test(message)
    ? 'name images that the nodes can fetch with PARLEY_SANDBOX_IMAGE and PARLEY_KUBERNETES_WAY_IMAGE'
    : null
