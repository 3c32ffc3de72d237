import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestingCluster } from '../../../tests/tools/kubernetes-testing.ts'
import type { Opened } from '../conformance-sentence.ts'
import { openGreeting } from '../greeting.fixture.ts'
import { openCluster } from './cluster.ts'
import { type KubernetesDriverOptions, kubernetesDriver } from './driver.ts'
import { labels, objectName } from './pod.ts'

const run = promisify(execFile)

/** Of a driver in a folder, which is one installation. */
export const optionsFor = (testing: TestingCluster, folder: string): KubernetesDriverOptions => ({
  stateDir: join(folder, 'state'),
  egress: {
    gate: { decide: async () => ({ allow: false, reason: 'nothing is allowed' }) },
    dial: () => Promise.reject(new Error('not dialled')),
  },
  kubeconfig: testing.accountKubeconfig,
  namespace: null,
  image: testing.image,
  wayImage: testing.image,
  egressAddress: { host: testing.nodeAddress, port: 0 },
  storageClass: testing.storageClass,
  runtimeClass: null,
  log: () => undefined,
})

/** The driver, with the account of deploy/kubernetes, before an upstream that greets; the gate knows one host. */
export async function openKubernetes(testing: TestingCluster, image = testing.image): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-kubernetes-'))
  const greeting = await openGreeting()
  const driver = kubernetesDriver({
    ...optionsFor(testing, folder),
    image,
    egress: greeting.egress,
  })
  return {
    driver,
    isolated: true,
    limits: true,
    inPods: true,
    pauseEnds: true,
    endSandbox: (id) => killContainer(testing, id),
    leftovers: (id) => objectsNaming(testing, id),
    async close() {
      await driver[Symbol.asyncDispose]()
      greeting.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** Of the sandbox's pod, by the node's runtime. */
async function killContainer({ runtime }: TestingCluster, id: string): Promise<void> {
  const ctr = async (...args: string[]) => (await run('ctr', ['-a', runtime, '-n', 'k8s.io', ...args])).stdout.trim()
  const named = `labels."io.kubernetes.pod.name"==${objectName(id)}`
  const found = await ctr('containers', 'ls', '-q', `${named},labels."io.kubernetes.container.name"==sandbox`)
  for (const container of found.split('\n').filter(Boolean)) await ctr('tasks', 'kill', '-s', 'SIGKILL', container)
}

async function objectsNaming({ kubeconfig, namespace }: TestingCluster, id: string): Promise<string[]> {
  const { core } = openCluster(kubeconfig, namespace)
  const labelSelector = `${labels.sandbox}=${id}`
  const [pods, claims] = await Promise.all([
    core.listNamespacedPod({ namespace, labelSelector }),
    core.listNamespacedPersistentVolumeClaim({ namespace, labelSelector }),
  ])
  return [...pods.items, ...claims.items].map(({ kind, metadata }) => `${kind} ${metadata?.name}`)
}
