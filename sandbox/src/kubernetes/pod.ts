/*
 * The walls of a sandbox in a cluster, as objects of its API: this list is the product. A sandbox is a claim of a volume,
 * which holds its files and what is remembered of it, and while it runs a pod of two containers. Its rules:
 *   - both fit the pod security standard "restricted": a user that belongs to this sandbox alone, no capability, no way to gain
 *     one, the runtime's system call filter, no account of the cluster, no namespace of the node;
 *   - the image's files are read-only; what a tenant writes lies on the volume;
 *   - in the tenant's container runs nothing of ours but what waits; the way out is kept by the other container, which
 *     shares its network and nothing else: it alone knows the word by which our proxy lets this sandbox in;
 *   - network policies let the pod reach our proxy and nothing else, and nobody reach the pod.
 */
import type {
  V1Container,
  V1NetworkPolicy,
  V1PersistentVolumeClaim,
  V1Pod,
  V1SecurityContext,
  V1Volume,
} from '@kubernetes/client-node'
import type { SandboxSpec } from '../driver.ts'
import { etcFiles } from '../etc.ts'
import { baseEnv, inside } from '../inside.ts'

/** On everything of ours: the sandbox, and whom it belongs to. */
export const labels = { sandbox: 'parley.dev/sandbox', installation: 'parley.dev/installation' } as const
/** On the claim: what is remembered of the sandbox. */
export const notes = { spec: 'parley.dev/spec', paused: 'parley.dev/paused' } as const
export const containers = { sandbox: 'sandbox', way: 'way' } as const

export const objectName = (sandbox: string): string => `parley-${sandbox}`

/** Above the ranges that distributions hand out, and different for every sandbox. */
export const uidOf = (id: string): number => 1_900_000_000 + (parseInt(id.slice(-7), 16) % 200_000_000)

export interface Shape {
  installation: string
  /** Of the container that keeps the way out: a POSIX shell and socat. */
  wayImage: string
  storageClass: string | null
  /** Such as that of gVisor or Kata containers. Null: the cluster's own. */
  runtimeClass: string | null
}

const owned = (id: string, installation: string) => ({
  name: objectName(id),
  labels: { [labels.sandbox]: id, [labels.installation]: installation },
})

export function claimOf(spec: SandboxSpec, { installation, storageClass }: Shape): V1PersistentVolumeClaim {
  return {
    metadata: { ...owned(spec.id, installation), annotations: notesOf(spec, false) },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: String(spec.limits.disk) } },
      ...(storageClass !== null && { storageClassName: storageClass }),
    },
  }
}

export const notesOf = (spec: SandboxSpec, paused: boolean): Record<string, string> => ({
  [notes.spec]: JSON.stringify(spec),
  [notes.paused]: String(paused),
})

/** Undefined: it is no claim of ours. */
export function recalled(claim: V1PersistentVolumeClaim): { spec: SandboxSpec; paused: boolean } | undefined {
  const { [notes.spec]: spec, [notes.paused]: paused } = claim.metadata?.annotations ?? {}
  return spec === undefined ? undefined : { spec: JSON.parse(spec) as SandboxSpec, paused: paused === 'true' }
}

/** Where the container that keeps the way out finds the tenant's files, to count them. */
export const volumeFolder = '/volume'
/** What is told to the container that keeps the way out: where to, and the word; and its number. */
export const wayFiles = { way: '/tmp/way', pid: '/tmp/pid' } as const

const confined: V1SecurityContext = {
  allowPrivilegeEscalation: false,
  privileged: false,
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
}

/** Of what a sandbox may use at most it is promised this part: most wait for a model or a person most of the time. */
const promised = { cpu: 1 / 4, memory: 1 / 2 }
const etc = ['passwd', 'group', 'gitconfig'] as const
const annotationOf = (file: string) => `parley.dev/etc-${file}`

const milli = (cpu: number) => `${Math.max(10, Math.round(cpu * 1000))}m`

const tenantOf = ({ limits }: SandboxSpec, image: string): V1Container => ({
  name: containers.sandbox,
  image,
  imagePullPolicy: 'IfNotPresent',
  command: ['/bin/sh', '-c', waitScript],
  workingDir: '/',
  // Where programs are is the image's business: see `enter.ts`.
  env: Object.entries(baseEnv()).flatMap(([name, value]) => (name === 'PATH' ? [] : [{ name, value }])),
  securityContext: confined,
  resources: {
    requests: { cpu: milli(limits.cpu * promised.cpu), memory: String(Math.ceil(limits.memory * promised.memory)) },
    limits: { cpu: milli(limits.cpu), memory: String(limits.memory) },
  },
  volumeMounts: [
    { name: 'files', subPath: 'workspace', mountPath: inside.workspace },
    { name: 'files', subPath: 'home', mountPath: '/home' },
    { name: 'files', subPath: 'tmp', mountPath: '/tmp' },
    { name: 'files', subPath: 'tmp', mountPath: '/var/tmp' },
    { name: 'trust', mountPath: inside.runtime, readOnly: true },
    ...etc.map((file) => ({ name: 'etc', subPath: file, mountPath: `/etc/${file}`, readOnly: true })),
    // Nothing that the image has in the home of root.
    { name: 'root', mountPath: '/root', readOnly: true },
  ],
})

const wayOf = (image: string): V1Container => ({
  name: containers.way,
  image,
  imagePullPolicy: 'IfNotPresent',
  command: ['/bin/sh', '-c', wayScript],
  workingDir: '/',
  securityContext: confined,
  resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '1', memory: '128Mi' } },
  volumeMounts: [
    { name: 'trust', mountPath: inside.runtime },
    { name: 'own', mountPath: '/tmp' },
    { name: 'files', mountPath: volumeFolder, readOnly: true },
  ],
})

export function podOf(spec: SandboxSpec, image: string, shape: Shape): V1Pod {
  const { id } = spec
  const uid = uidOf(id)
  const files = etcFiles(spec, uid)
  const annotations = Object.fromEntries(etc.map((file) => [annotationOf(file), files[file] ?? '']))
  return {
    metadata: { ...owned(id, shape.installation), annotations },
    spec: {
      restartPolicy: 'Never',
      hostname: 'sandbox',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 1,
      ...(shape.runtimeClass !== null && { runtimeClassName: shape.runtimeClass }),
      // Names are resolved by the proxy.
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['127.0.0.1'] },
      securityContext: {
        runAsNonRoot: true,
        runAsUser: uid,
        runAsGroup: uid,
        fsGroup: uid,
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [tenantOf(spec, image), wayOf(shape.wayImage)],
      volumes: [{ name: 'files', persistentVolumeClaim: { claimName: objectName(id) } }, ...ownVolumes()],
    },
  }
}

const inMemory = (name: string): V1Volume => ({ name, emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } })

const ownVolumes = (): V1Volume[] => [
  ...['trust', 'own', 'root'].map(inMemory),
  {
    name: 'etc',
    downwardAPI: {
      defaultMode: 0o444,
      items: etc.map((path) => ({ path, fieldRef: { fieldPath: `metadata.annotations['${annotationOf(path)}']` } })),
    },
  },
]

/** Made by the container that keeps the way out, where the tenant can only read: that it is over, and what wakes who waits. */
const [over, bell] = [`${inside.runtime}/over`, `${inside.runtime}/bell`]

/** Process 1 of the tenant's container: it gathers orphans, and cannot be ended from inside. */
const waitScript = `mkdir -p -m 700 ${inside.home}
exec </dev/null >/dev/null 2>&1
until [ -e ${over} ]; do
  if [ -p ${bell} ]; then read -r _ <${bell} & else sleep 0.1 & fi
  wait $!
done`

/**
 * Process 1 of the other one: once it was told the way it keeps it open, and takes a new one when it is told again. When
 * the cluster asks it to end, it lets the other one end too, which would take seconds otherwise.
 */
const wayScript = `exec </dev/null >/dev/null 2>&1
trap 'touch ${over}; for i in 1 2 3 4 5 6 7 8; do echo 1<>${bell}; sleep 0.05; done; exit 0' TERM
mkfifo -m 644 ${bell}
while :; do
  if [ -r ${wayFiles.way} ] && read -r host port auth <${wayFiles.way}; then
    socat TCP-LISTEN:${inside.proxyPort},bind=127.0.0.1,fork,reuseaddr,max-children=64 \
      "PROXY:$host:sandbox:1,proxyport=$port,proxyauth=$auth" &
    echo $! >${wayFiles.pid}
    wait $!
  fi
  sleep 0.05 || sleep 1
done`

/** Nobody reaches a sandbox, and it reaches nobody: for all sandboxes of the namespace, whosever they are. */
export const closedPolicy: V1NetworkPolicy = {
  metadata: { name: 'parley-sandboxes-closed' },
  spec: {
    podSelector: { matchExpressions: [{ key: labels.sandbox, operator: 'Exists' }] },
    policyTypes: ['Ingress', 'Egress'],
  },
}

/** But those of this installation reach their proxy. A plugin that knows pods by name only takes the second rule. */
export const wayPolicy = (installation: string, host: string, port: number): V1NetworkPolicy => ({
  metadata: { name: `parley-way-${installation}`, labels: { [labels.installation]: installation } },
  spec: {
    podSelector: { matchLabels: { [labels.installation]: installation } },
    policyTypes: ['Egress'],
    egress: [
      {
        to: [
          { ipBlock: { cidr: host.includes(':') ? `${host}/128` : `${host}/32` } },
          { namespaceSelector: {}, podSelector: { matchLabels: { 'app.kubernetes.io/name': 'parley' } } },
        ],
        ports: [{ protocol: 'TCP', port }],
      },
    ],
  },
})
