/* What a cluster for tests has before the first test: what deploy/kubernetes makes but for the server, and volumes. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CoreV1Api,
  type KubeConfig,
  type KubernetesObject,
  KubernetesObjectApi,
  loadAllYaml,
} from '@kubernetes/client-node'

const volumes = 120
const upMs = 90_000

export const kubeconfigText = (port: number, token: string, namespace = 'default') => `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:${port}", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: "${token}"}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: ${namespace}}}]
current-context: x
`

/** What deploy/kubernetes makes but for the server itself, volumes, and the account's way in. */
export async function furnish(config: KubeConfig, folder: string, port: number) {
  const objects = config.makeApiClient(KubernetesObjectApi)
  const core = config.makeApiClient(CoreV1Api)
  const deploy = new URL('../../deploy/kubernetes/', import.meta.url)
  for (const file of ['namespace.yaml', 'access.yaml', 'network.yaml'])
    for (const one of loadAllYaml(await readFile(new URL(file, deploy), 'utf8')) as KubernetesObject[])
      await objects.create(one)
  await objects.create({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'folders' },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'Immediate',
  } as KubernetesObject)
  await Promise.all([...Array(volumes).keys()].map((at) => volume(core, folder, at)))
  const namespace = 'parley-sandboxes'
  const account = 'parley'
  let token = ''
  await until('the account has a token', async () => {
    const { items } = await core.listNamespacedSecret({ namespace: account })
    const its = items.find(({ metadata }) => metadata?.annotations?.['kubernetes.io/service-account.name'] === account)
    token = Buffer.from(its?.data?.['token'] ?? '', 'base64').toString()
    return token !== ''
  })
  const accountKubeconfig = join(folder, 'account-kubeconfig')
  await writeFile(accountKubeconfig, kubeconfigText(port, token, namespace))
  return { namespace, accountKubeconfig }
}

async function volume(core: CoreV1Api, folder: string, at: number): Promise<void> {
  const path = join(folder, 'volumes', String(at))
  await mkdir(path, { recursive: true })
  await core.createPersistentVolume({
    body: {
      metadata: { name: `folder-${at}` },
      spec: {
        capacity: { storage: '20Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        storageClassName: 'folders',
        local: { path },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node1'] }] },
            ],
          },
        },
      },
    },
  })
}

/** Resolves once it is so; what fails is tried again for a while. */
export async function until(what: string, seen: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + upMs
  for (;;) {
    const done = await seen().catch((error: unknown) => error)
    if (done === true) return
    if (performance.now() > deadline) throw new Error(`${what}: not within ${upMs / 1000} s: ${String(done)}`)
    await sleep(100)
  }
}
