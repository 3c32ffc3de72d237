/*
 * A real Kubernetes for tests on this machine: API server, controllers, scheduler and one node with a real runtime, on free
 * ports and in a folder of its own. It asks no registry, makes no firewall rule, and enforces no network policy. Volumes are
 * folders, made ahead as claims of the class `folders` take them. What it needs is built by `kubernetes-build.sh`.
 */
import { execFile, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { busybox, busyboxRoot, hostRoot } from './image-root.ts'
import { furnish, kubeconfigText, until } from './kubernetes-furnish.ts'
import type { TestingCluster } from './kubernetes-testing.ts'
import { ctr, importImage } from './node-images.ts'

const run = promisify(execFile)

/** Address of the node, which is also where pods find this machine. Bridges of our own carry it. */
const nodeAddress = '10.255.253.1'
const bridges = { node: 'parleyk8s0', pods: 'parleyk8s1' } as const
const podNetwork = '10.253.77.0/24'

interface Parts {
  folder: string
  bin: string
  start: (name: string, program: string, args: readonly string[]) => number
  ports: Record<'etcd' | 'peer' | 'api' | 'controllers' | 'scheduler' | 'kubelet', number>
}

/** @param bin Folder of what `kubernetes-build.sh` built. */
export async function startCluster(bin: string): Promise<TestingCluster & { stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-k8s-'))
  const pids: number[] = []
  const start: Parts['start'] = (name, program, args) => {
    const log = createWriteStream(join(folder, `${name}.log`))
    const env = { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`, HOME: folder }
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    child.on('error', (error) => log.write(String(error)))
    for (const stream of [child.stdout, child.stderr]) stream.pipe(log, { end: false })
    if (child.pid !== undefined) pids.push(child.pid)
    return child.pid ?? 0
  }
  const stop = () => end(folder, pids)
  try {
    const ports = await freePorts()
    const parts = { folder, bin, start, ports }
    await network()
    await writeSettings(parts)
    await control(parts)
    await node(parts)
    const kubeconfig = join(folder, 'kubeconfig')
    const runtime = join(folder, 'containerd.sock')
    const image = 'parley.test/host:1'
    const small = (await busybox()) === undefined ? null : 'parley.test/busybox:1'
    await importImage(folder, 'parley.test/pause:1', hostRoot(), ['/bin/sleep', 'infinity'])
    await importImage(folder, image, hostRoot(['socat', 'curl']))
    if (small !== null) await importImage(folder, small, busyboxRoot)
    const config = new KubeConfig()
    config.loadFromFile(kubeconfig)
    await until('the node is ready', () => nodeReady(config))
    const { namespace, accountKubeconfig } = await furnish(config, folder, ports.api)
    return {
      kubeconfig,
      accountKubeconfig,
      namespace,
      nodeAddress,
      storageClass: 'folders',
      image,
      busyboxImage: small,
      runtime,
      folder,
      stop,
    }
  } catch (error) {
    const said = await lastWords(folder)
    await stop()
    throw new Error(`the cluster did not start: ${String(error)}\n${said}`, { cause: error })
  }
}

async function freePorts(): Promise<Parts['ports']> {
  const names = ['etcd', 'peer', 'api', 'controllers', 'scheduler', 'kubelet'] as const
  const servers = await Promise.all(
    names.map(async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return Object.fromEntries(names.map((name, at) => [name, ports[at] ?? 0])) as Parts['ports']
}

/** The node's own address, on an interface that leads nowhere. */
async function network(): Promise<void> {
  await run('ip', ['link', 'add', bridges.node, 'type', 'bridge']).catch(() => undefined)
  await run('ip', ['addr', 'add', `${nodeAddress}/32`, 'dev', bridges.node]).catch(() => undefined)
  await run('ip', ['link', 'set', bridges.node, 'up'])
}

const admin = 'a-token-for-tests'

async function writeSettings({ folder, ports }: Parts): Promise<void> {
  const at = (name: string) => join(folder, name)
  await mkdir(at('cni'))
  await run('openssl', ['genrsa', '-out', at('sa.key'), '2048'])
  await run('openssl', ['rsa', '-in', at('sa.key'), '-pubout', '-out', at('sa.pub')])
  await writeFile(at('tokens.csv'), `${admin},admin,admin,system:masters\n`)
  await writeFile(at('kubeconfig'), kubeconfigText(ports.api, admin))
  const bridge = {
    type: 'bridge',
    bridge: bridges.pods,
    isDefaultGateway: true,
    ipMasq: false,
    ipam: { type: 'host-local', dataDir: at('ipam'), ranges: [[{ subnet: podNetwork }]] },
  }
  await writeFile(
    at('cni/10-bridge.conflist'),
    JSON.stringify({ cniVersion: '0.4.0', name: 'parley', plugins: [bridge] }),
  )
  await writeFile(
    at('containerd.toml'),
    `version = 2
root = "${at('containerd/root')}"
state = "${at('containerd/state')}"
[grpc]
  address = "${at('containerd.sock')}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "parley.test/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${at('cni')}"
`,
  )
}

const flags = (values: Record<string, string | number | boolean>) =>
  Object.entries(values).map(([name, value]) => `--${name}=${value}`)

async function control({ folder, bin, start, ports }: Parts): Promise<void> {
  const at = (name: string) => join(folder, name)
  const etcd = `http://127.0.0.1:${ports.etcd}`
  start('etcd', 'etcd', [
    '--data-dir',
    at('etcd'),
    '--unsafe-no-fsync',
    '--listen-client-urls',
    etcd,
    '--advertise-client-urls',
    etcd,
    '--listen-peer-urls',
    `http://127.0.0.1:${ports.peer}`,
  ])
  const api = {
    'etcd-servers': etcd,
    'secure-port': ports.api,
    'bind-address': '127.0.0.1',
    'advertise-address': nodeAddress,
    'cert-dir': at('certs'),
    'token-auth-file': at('tokens.csv'),
    'service-account-key-file': at('sa.pub'),
    'service-account-signing-key-file': at('sa.key'),
    'service-account-issuer': 'https://parley.test',
    'api-audiences': 'https://parley.test',
    'authorization-mode': 'RBAC',
    'service-cluster-ip-range': '10.96.0.0/16',
    'kubelet-preferred-address-types': 'InternalIP',
  }
  start('apiserver', join(bin, 'kube-apiserver'), flags(api))
  const config = new KubeConfig()
  config.loadFromFile(at('kubeconfig'))
  await until('the API answers', async () => (await config.makeApiClient(CoreV1Api).listNamespace()).items.length >= 3)
  const quiet = { kubeconfig: at('kubeconfig'), 'leader-elect': false, port: 0, 'bind-address': '127.0.0.1' }
  const accounts = { 'service-account-private-key-file': at('sa.key'), 'use-service-account-credentials': true }
  start(
    'controllers',
    join(bin, 'kube-controller-manager'),
    flags({ ...quiet, ...accounts, 'secure-port': ports.controllers }),
  )
  start('scheduler', join(bin, 'kube-scheduler'), flags({ ...quiet, 'secure-port': ports.scheduler }))
}

async function node({ folder, bin, start, ports }: Parts): Promise<void> {
  const at = (name: string) => join(folder, name)
  start('containerd', 'containerd', ['-c', at('containerd.toml')])
  await until('the runtime answers', () => ctr(folder, 'version').then(() => true))
  const kubelet = {
    kubeconfig: at('kubeconfig'),
    'root-dir': at('kubelet'),
    'cert-dir': at('kubelet-certs'),
    'container-runtime': 'remote',
    'container-runtime-endpoint': `unix://${at('containerd.sock')}`,
    'hostname-override': 'node1',
    'node-ip': nodeAddress,
    address: nodeAddress,
    port: ports.kubelet,
    'cgroups-per-qos': false,
    'enforce-node-allocatable': '',
    'cgroup-driver': 'cgroupfs',
    'eviction-hard': '',
    'fail-swap-on': false,
    'oom-score-adj': 0,
    'anonymous-auth': true,
    'authorization-mode': 'AlwaysAllow',
    'read-only-port': 0,
    'healthz-port': 0,
    'resolv-conf': '/etc/resolv.conf',
    'make-iptables-util-chains': false,
    'volume-plugin-dir': at('plugins'),
    'system-reserved': '',
  }
  start('kubelet', join(bin, 'kubelet'), flags(kubelet))
}

async function nodeReady(config: KubeConfig): Promise<boolean> {
  const { items } = await config.makeApiClient(CoreV1Api).listNode()
  return items.some(({ status }) =>
    status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
  )
}

async function lastWords(folder: string): Promise<string> {
  const logs = (await readdir(folder)).filter((name) => name.endsWith('.log'))
  const ends = logs.map(async (name) => `${name}: ${(await readFile(join(folder, name), 'utf8')).slice(-600)}`)
  return (await Promise.all(ends)).join('\n')
}

/** Pods first, while there is somebody to end them; then what was started, the latest first; then what they left. */
async function end(folder: string, pids: readonly number[]): Promise<void> {
  const tasks = async () => (await ctr(folder, 'tasks', 'ls', '-q').catch(() => ({ stdout: '' }))).stdout.trim()
  await removePods(join(folder, 'kubeconfig'))
  for (let tries = 0; tries < 150 && (await tasks()) !== ''; tries++) await sleep(100)
  const kubelet = pids.at(-1)
  if (kubelet !== undefined) await endProcess(kubelet)
  for (const task of (await tasks()).split('\n').filter(Boolean)) {
    await ctr(folder, 'tasks', 'kill', '-a', '-s', 'SIGKILL', task).catch(() => undefined)
    await ctr(folder, 'tasks', 'delete', '-f', task).catch(() => undefined)
  }
  for (const pid of pids.slice(0, -1).reverse()) await endProcess(pid)
  for (const pid of await naming(folder)) await endProcess(pid)
  await unmountBelow(folder)
  for (const bridge of Object.values(bridges)) await run('ip', ['link', 'del', bridge]).catch(() => undefined)
  // Empty groups that the runtime left; those that are in use stay.
  await run('sh', ['-c', 'rmdir /sys/fs/cgroup/k8s.io /sys/fs/cgroup/*/k8s.io']).catch(() => undefined)
  await rm(folder, { recursive: true, force: true })
}

async function removePods(kubeconfig: string): Promise<void> {
  try {
    const config = new KubeConfig()
    config.loadFromFile(kubeconfig)
    const core = config.makeApiClient(CoreV1Api)
    const { items } = await core.listPodForAllNamespaces()
    for (const { metadata } of items)
      await core.deleteNamespacedPod({
        namespace: metadata?.namespace ?? '',
        name: metadata?.name ?? '',
        gracePeriodSeconds: 0,
      })
  } catch {
    // Nobody answers any more: what is left is ended below.
  }
}

async function endProcess(pid: number): Promise<void> {
  const signal = (name: NodeJS.Signals | 0) => {
    try {
      return process.kill(pid, name)
    } catch {
      return false
    }
  }
  signal('SIGTERM')
  for (let tries = 0; tries < 100 && signal(0); tries++) await sleep(50)
  signal('SIGKILL')
}

/** Processes that have the folder in their command: what holds the containers. */
async function naming(folder: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return pids.filter((pid, at) => pid !== process.pid && commands[at]?.includes(folder))
}

async function unmountBelow(folder: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '')
  for (const mount of mounts.filter((path) => path.startsWith(`${folder}/`)).reverse())
    await run('umount', ['-l', mount]).catch(() => undefined)
}

/** Why this machine cannot run one; undefined when it can. */
export async function clusterLacks(bin: string): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'needs Linux'
  if (process.getuid?.() !== 0) return 'needs root'
  const there = await stat(join(bin, 'kubelet')).catch(() => undefined)
  return there === undefined ? `${bin} has no kubelet (tests/tools/kubernetes-build.sh builds it)` : undefined
}
