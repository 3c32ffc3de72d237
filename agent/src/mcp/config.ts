import type { McpConfig } from '@parley/contract/mcp-config'
import { z } from 'zod'

/** One server as the agent starts it. Texts may name secrets as `${NAME}`. */
export type McpServer =
  | {
      kind: 'stdio'
      command: string
      args: string[]
      env: Record<string, string>
      cwd: string | null
      timeoutMs: number
      /** Its texts stay as they are: no secret is filled in. */
      bare?: boolean
    }
  | { kind: 'http' | 'sse'; url: string; headers: Record<string, string>; timeoutMs: number }

/** A tool may take so long unless the configuration says otherwise. */
export const callTimeoutMs = 300_000

const seconds = z
  .number()
  .positive()
  .max(3600)
  .nullish()
  .transform((said) => (said ? said * 1000 : callTimeoutMs))
const texts = z.record(z.string(), z.string())

const Program = z
  .looseObject({
    command: z.string().min(1),
    args: z.array(z.string()).default([]),
    env: texts.default({}),
    cwd: z.string().nullish(),
    timeout: seconds,
  })
  .transform(({ command, args, env, cwd, timeout }): McpServer => ({
    kind: 'stdio',
    command,
    args,
    env,
    cwd: cwd ?? null,
    timeoutMs: timeout,
  }))

const Address = z
  .looseObject({
    url: z.url({ protocol: /^https?$/ }),
    headers: texts.default({}),
    transport: z.string().optional(),
    type: z.string().optional(),
    timeout: seconds,
  })
  .transform(({ url, headers, transport, type, timeout }): McpServer => ({
    kind: (transport ?? type) === 'sse' ? 'sse' : 'http',
    url,
    headers,
    timeoutMs: timeout,
  }))

const Servers = z.record(z.string().regex(/^[\w.-]{1,64}$/), z.union([Program, Address]))

/** Of a configuration file: a map from names to servers, perhaps within `mcpServers`. Throws a `ZodError`. */
export function mcpServers(value: Record<string, unknown>): Record<string, McpServer> {
  const inner = value['mcpServers']
  const servers = Servers.parse(typeof inner === 'object' && inner !== null ? inner : value)
  const kept = Object.entries(servers).filter(([name]) => !isDisabled(value, name))
  return Object.fromEntries(kept)
}

function isDisabled(value: Record<string, unknown>, name: string): boolean {
  const inner = (value['mcpServers'] ?? value) as Record<string, { enabled?: unknown; disabled?: unknown }>
  return inner[name]?.enabled === false || inner[name]?.disabled === true
}

/** Of the settings. Servers without a name are called by their host, numbered when there are several of one. */
export function settingsServers(config: McpConfig | null): Record<string, McpServer> {
  const servers: Record<string, McpServer> = {}
  const named = (wanted: string): string => {
    let name = wanted
    for (let count = 2; Object.hasOwn(servers, name); count += 1) name = `${wanted}_${count}`
    return name
  }
  for (const { name, command, args, env } of config?.stdio_servers ?? [])
    servers[named(name)] = { kind: 'stdio', command, args, env, cwd: null, timeoutMs: callTimeoutMs }
  for (const { url, api_key, timeout } of config?.shttp_servers ?? [])
    servers[named(hostOf(url))] = {
      kind: 'http',
      url,
      headers: bearer(api_key),
      timeoutMs: timeout ? timeout * 1000 : callTimeoutMs,
    }
  for (const { url, api_key } of config?.sse_servers ?? [])
    servers[named(hostOf(url))] = { kind: 'sse', url, headers: bearer(api_key), timeoutMs: callTimeoutMs }
  return servers
}

const bearer = (key: string | null): Record<string, string> => (key ? { authorization: `Bearer ${key}` } : {})

const hostOf = (url: string): string => new URL(url).hostname.replaceAll(/[^a-z0-9]+/gi, '_').replaceAll(/^_+|_+$/g, '')
