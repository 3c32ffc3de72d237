/* The API of a cluster, and what it says when it refuses. */
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  ApiException,
  AuthorizationV1Api,
  CoreV1Api,
  KubeConfig,
  NetworkingV1Api,
  StorageV1Api,
  VersionApi,
} from '@kubernetes/client-node'
import { Agent } from 'undici'

export interface Cluster {
  config: KubeConfig
  namespace: string
  core: CoreV1Api
  networking: NetworkingV1Api
  authorization: AuthorizationV1Api
  storage: StorageV1Api
  version: VersionApi
}

/** Something that the cluster refused or could not do, in words for people. */
export class ClusterError extends Error {
  override name = 'ClusterError'
}

const account = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * @param kubeconfig Path of a file. Null: the account of the pod that this program runs in or, outside of a cluster, the
 * user's own `~/.kube/config`.
 * @param namespace Null: that of the account or the context.
 */
export function openCluster(kubeconfig: string | null, namespace: string | null): Cluster {
  const config = keepingConnections(new KubeConfig())
  const own = join(homedir(), '.kube', 'config')
  const inside = kubeconfig === null && existsSync(`${account}/token`)
  const path = kubeconfig ?? own
  if (!inside && !existsSync(path))
    throw new ClusterError(`no cluster is named: ${path} is not there, and this is no pod; set KUBECONFIG`)
  try {
    if (inside) config.loadFromCluster()
    else config.loadFromFile(path)
  } catch (cause) {
    throw new ClusterError(`${path} cannot be read: ${textOf(cause)}`, { cause })
  }
  const context = config.getContextObject(config.getCurrentContext())?.namespace
  const given = inside ? readFileSync(`${account}/namespace`, 'utf8').trim() : context
  return {
    config,
    namespace: namespace ?? given ?? 'default',
    core: config.makeApiClient(CoreV1Api),
    networking: config.makeApiClient(NetworkingV1Api),
    authorization: config.makeApiClient(AuthorizationV1Api),
    storage: config.makeApiClient(StorageV1Api),
    version: config.makeApiClient(VersionApi),
  }
}

/**
 * The client opens a connection of its own for every request and leaves it to be found by the garbage collector, sometimes
 * before the answer has come. Here they are kept and used again, for as long as the certificates are the same.
 */
function keepingConnections(config: KubeConfig): KubeConfig {
  let kept: { options: object; agent: Agent } | undefined
  const dispatcherOf = Reflect.get(config, 'createDispatcherOptions') as (...args: unknown[]) => DispatcherOptions
  const createDispatcher = (...args: unknown[]): unknown => {
    const { type, connect } = dispatcherOf.apply(config, args)
    if (type !== 'agent') return usual.apply(config, args)
    if (kept === undefined || !isDeepStrictEqual(kept.options, connect))
      kept = { options: connect, agent: new Agent({ connect, allowH2: false }) }
    return kept.agent
  }
  const usual = Reflect.get(config, 'createDispatcher') as (...args: unknown[]) => unknown
  Reflect.set(config, 'createDispatcher', createDispatcher)
  return config
}

interface DispatcherOptions {
  type: 'none' | 'agent' | 'proxy' | 'socks'
  connect: object
}

const answerMs = 30_000

/** What the cluster says, with its failures as `ClusterError`; it has half a minute to say it. */
export function plainly<T>(asked: Promise<T>): Promise<T> {
  return inTime(asked).catch((cause: unknown) => {
    throw new ClusterError(`the cluster says: ${said(cause)}`, { cause })
  })
}

/** As `plainly`; undefined when there is no such thing. */
export const ifThere = <T>(asked: Promise<T>): Promise<T | undefined> => unless(404, asked)

/** As `plainly`; undefined when it is there already. */
export const ifNew = <T>(asked: Promise<T>): Promise<T | undefined> => unless(409, asked)

async function unless<T>(status: number, asked: Promise<T>): Promise<T | undefined> {
  try {
    return await inTime(asked)
  } catch (error) {
    if (statusOf(error) === status) return undefined
    return plainly(Promise.reject(error as Error))
  }
}

async function inTime<T>(asked: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new ClusterError('it does not answer')), answerMs)
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

export const statusOf = (error: unknown): number | undefined => (error instanceof ApiException ? error.code : undefined)

const words: Record<number, string> = {
  401: 'it does not know this account (status 401)',
  403: 'this account may not do that (status 403)',
}

/** What the API or the way to it says. */
export function said(error: unknown): string {
  if (!(error instanceof ApiException)) return textOf(error)
  const body: unknown = error.body
  const message = typeof body === 'string' ? messageOf(body) : (body as { message?: string } | undefined)?.message
  return message ?? words[error.code] ?? `status ${error.code}`
}

function messageOf(body: string): string {
  try {
    return (JSON.parse(body) as { message?: string }).message ?? body
  } catch {
    return body
  }
}

/** A failed connection says why in its cause. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message
}
