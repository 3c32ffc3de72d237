import { isIP } from 'node:net'
import { z } from 'zod'
import { imageReference } from './config-images.ts'

/* What says how sandboxes are kept in a cluster. */

export interface KubernetesConfig {
  /** Path; null: the account of the pod the server runs in, else `~/.kube/config`. */
  readonly kubeconfig: string | null
  /** Null: that of the account or the context. */
  readonly namespace: string | null
  /** Where the way out of sandboxes listens, as pods reach it. Null: the first address of this machine. */
  readonly egressAddress: { readonly host: string; readonly port: number } | null
  /** Of the container beside each sandbox that keeps its way out: it has a shell and socat. */
  readonly wayImage: string
  /** Null: the cluster's own. */
  readonly storageClass: string | null
  readonly runtimeClass: string | null
}

const ObjectName = z.string().regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, 'must be a name as Kubernetes has them')

const Egress = z.string().transform((text, context) => {
  const [, bracketed, plain, port] = /^(?:\[([\da-f:.]+)\]|([\d.]+)):(\d{1,5})$/i.exec(text) ?? []
  const host = bracketed ?? plain ?? ''
  if (isIP(host) !== 0 && Number(port) <= 65_535) return { host, port: Number(port) }
  const message = 'must be an IP address of this server and a port, such as 10.1.2.3:3129'
  context.addIssue({ code: 'custom', message })
  return z.NEVER
})

export const kubernetesVariables = {
  KUBECONFIG: z.string().optional(),
  PARLEY_KUBERNETES_NAMESPACE: ObjectName.optional(),
  PARLEY_KUBERNETES_EGRESS: Egress.optional(),
  PARLEY_KUBERNETES_WAY_IMAGE: z
    .string()
    .regex(imageReference, 'must be an image such as alpine/socat:1.8.0.3')
    .default('alpine/socat:1.8.0.3'),
  PARLEY_KUBERNETES_STORAGE_CLASS: ObjectName.optional(),
  PARLEY_KUBERNETES_RUNTIME_CLASS: ObjectName.optional(),
} as const

type Values = z.output<z.ZodObject<typeof kubernetesVariables>>

export const kubernetesOf = (values: Values): KubernetesConfig => ({
  kubeconfig: values.KUBECONFIG ?? null,
  namespace: values.PARLEY_KUBERNETES_NAMESPACE ?? null,
  egressAddress: values.PARLEY_KUBERNETES_EGRESS ?? null,
  wayImage: values.PARLEY_KUBERNETES_WAY_IMAGE,
  storageClass: values.PARLEY_KUBERNETES_STORAGE_CLASS ?? null,
  runtimeClass: values.PARLEY_KUBERNETES_RUNTIME_CLASS ?? null,
})

/** As variables; what is unset is empty. */
export function shownKubernetes(config: KubernetesConfig): Record<keyof typeof kubernetesVariables, string> {
  const { kubeconfig, namespace, egressAddress: egress, wayImage, storageClass, runtimeClass } = config
  return {
    KUBECONFIG: kubeconfig ?? '',
    PARLEY_KUBERNETES_NAMESPACE: namespace ?? '',
    PARLEY_KUBERNETES_EGRESS:
      egress === null ? '' : `${isIP(egress.host) === 6 ? `[${egress.host}]` : egress.host}:${egress.port}`,
    PARLEY_KUBERNETES_WAY_IMAGE: wayImage,
    PARLEY_KUBERNETES_STORAGE_CLASS: storageClass ?? '',
    PARLEY_KUBERNETES_RUNTIME_CLASS: runtimeClass ?? '',
  }
}
