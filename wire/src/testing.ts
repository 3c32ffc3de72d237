import type { Who } from '@parley/contract/endpoint'
import { scopes } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import { caller } from './call.ts'
import type { Doors } from './doors.ts'
import { listen, type ListenOptions } from './listen.ts'
import type { Log } from './problem.ts'
import type { Served } from './serve.ts'

/*
 * A server of the wire alone, for its own tests: keys `key-ada` and `key-bob` have every scope, `key-reader` reads only,
 * `key-box` belongs to a sandbox.
 */

const people: Record<string, Who> = {
  'key-ada': { owner: 'ada', kind: 'key', id: 'k1', scopes },
  'key-bob': { owner: 'bob', kind: 'key', id: 'k2', scopes },
  'key-reader': { owner: 'ada', kind: 'key', id: 'k3', scopes: ['events:read'] },
  'key-box': { owner: 'ada', kind: 'sandbox', id: 's1', scopes: [] },
}

export const testDoors: Doors = {
  async identify({ key }) {
    const who = people[key ?? '']
    if (!who) throw new Problem('authentication_error')
    return who
  },
}

export interface LogLine {
  level: 'error' | 'warn' | 'info'
  fields: object
  message: string
}

export function memoryLog(): Log & { lines: LogLine[] } {
  const lines: LogLine[] = []
  const at = (level: LogLine['level']) => (fields: object, message: string) =>
    void lines.push({ level, fields, message })
  return { lines, error: at('error'), warn: at('warn'), info: at('info') }
}

/** Listens on a free port of loopback; `await using` closes it. */
export async function openWire(served: Served[], options: Partial<ListenOptions> = {}) {
  const log = memoryLog()
  const server = await listen({ served, doors: testDoors, host: '127.0.0.1', port: 0, log, ...options })
  const url = server.url
  return {
    ...server,
    log,
    as: (key: string) => caller({ baseUrl: url, key }),
    get: (path: string, headers: Record<string, string> = {}) =>
      fetch(`${url}${path}`, { headers: { authorization: 'Bearer key-ada', ...headers } }),
    post: (path: string, body: string | Uint8Array | undefined, headers: Record<string, string> = {}) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer key-ada', 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: body as string }),
      }),
    [Symbol.asyncDispose]: () => server.close(500),
  }
}

export type Wire = Awaited<ReturnType<typeof openWire>>

/** `{status, code}` of a problem answer. */
export async function problem(
  response: Response,
): Promise<{ status: number; code: string; [member: string]: unknown }> {
  return (await response.json()) as { status: number; code: string }
}
