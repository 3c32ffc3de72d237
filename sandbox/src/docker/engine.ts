import Docker from 'dockerode'

export type Engine = Docker
export type Container = Docker.Container

/** Something that the engine refused or could not do, in words for people. */
export class EngineError extends Error {
  override name = 'EngineError'
}

const unix = 'unix://'

/** @param host As in DOCKER_HOST. Folders and sockets are shared with containers, so the engine is on this machine. */
export function openEngine(host: string): Engine {
  if (!host.startsWith(unix))
    throw new EngineError(
      `the engine must run on this machine and be reached by a unix socket (unix:///path), not at ${host}`,
    )
  return new Docker({ socketPath: host.slice(unix.length) })
}

export interface EngineFacts {
  version: string
  /** Users inside are others outside: rootless, or with user namespaces. */
  remapped: boolean
  /** Limits that the engine cannot hold, as `memory`, `processes`, `cpu`. */
  unlimited: string[]
}

export async function engineFacts(engine: Engine): Promise<EngineFacts> {
  const info = (await plainly(engine.info())) as Record<string, unknown>
  const security = JSON.stringify(info['SecurityOptions'] ?? [])
  const held = { memory: info['MemoryLimit'], processes: info['PidsLimit'], cpu: info['CpuCfsQuota'] }
  return {
    version: String(info['ServerVersion'] ?? 'unknown'),
    remapped: /name=(rootless|userns)/.test(security),
    unlimited: Object.entries(held).flatMap(([name, ok]) => (ok === false ? [name] : [])),
  }
}

/** What the engine says, with its failures as `EngineError`. */
export function plainly<T>(asked: Promise<T>): Promise<T> {
  return asked.catch((cause: unknown) => {
    throw new EngineError(`the container engine says: ${said(cause)}`, { cause })
  })
}

/** As `plainly`; undefined when there is no such thing, or it is so already. */
export async function ifThere<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if ([304, 404].includes(statusOf(error) ?? 0)) return undefined
    throw new EngineError(`the container engine says: ${said(error)}`, { cause: error })
  }
}

export const statusOf = (error: unknown): number | undefined => (error as { statusCode?: number }).statusCode

const unreachable: Record<string, string> = {
  ENOENT: 'it does not run, or listens elsewhere (DOCKER_HOST)',
  ECONNREFUSED: 'it does not run',
  EACCES: 'this user may not use it (group docker)',
}

/** What an engine or its client says, without the client's own beginning. */
export function said(error: unknown): string {
  const { code, address, json, message } = error as {
    code?: string
    address?: string
    json?: { message?: string }
    message?: string
  }
  const why = code === undefined ? undefined : unreachable[code]
  if (why !== undefined) return `${address ?? 'its socket'} cannot be reached: ${why}`
  return (json?.message ?? message ?? String(error)).replace(/^\(HTTP code \d+\) [^-]*- /, '').trim()
}
