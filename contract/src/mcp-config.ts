import { z } from 'zod'
import { described } from './described.ts'
import { WebAddress } from './text.ts'

/* MCP servers of the settings: two kinds that are reached over HTTP, and programs that run inside the sandbox. */

/** Stands for a secret in an answer; sent back it means: as it was. */
export const masked = '**********'

const apiKey = z
  .string()
  .max(4096)
  .nullable()
  .default(null)
  .meta({ description: 'Sent as `Authorization: Bearer`. Answered as asterisks, which sent back mean: as it was.' })

export const SseServer = z.object({ url: WebAddress, api_key: apiKey }).meta({ id: 'SseServer' })
export type SseServer = z.infer<typeof SseServer>

/** `timeout` is in seconds. */
export const ShttpServer = z
  .object(
    described(
      { url: WebAddress, api_key: apiKey, timeout: z.number().positive().max(3600).nullable().default(null) },
      { timeout: 'Seconds that a call may take; null: the usual time.' },
    ),
  )
  .meta({ id: 'ShttpServer' })
export type ShttpServer = z.infer<typeof ShttpServer>

export const StdioServer = z
  .object(
    described(
      {
        name: z
          .string()
          .max(64)
          .regex(/^[A-Za-z0-9_-]+$/, 'must be letters, digits, dashes and underscores'),
        command: z.string().min(1).max(4096),
        args: z.array(z.string().max(4096)).max(100).default([]),
        env: z
          .record(
            z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable'),
            z.string().max(65_536),
          )
          .default({}),
      },
      {
        name: 'Names it; where there are several servers, its tools begin with it.',
        command: 'The program; it runs inside the sandbox.',
        args: 'Its arguments.',
        env: 'Its variables. Values are answered as asterisks, which sent back mean: as it was.',
      },
    ),
  )
  .meta({ id: 'StdioServer' })
export type StdioServer = z.infer<typeof StdioServer>

/** A server that is reached by address, to be tried before or after it is stored. */
export const McpTestRequest = z
  .object(
    described(
      { kind: z.enum(['shttp', 'sse']), url: WebAddress, api_key: apiKey },
      { kind: '`shttp`: streamable HTTP; `sse`: HTTP with server-sent events.' },
    ),
  )
  .meta({ id: 'McpTestRequest' })
export type McpTestRequest = z.infer<typeof McpTestRequest>

export const McpTest = z
  .object(
    described(
      { ok: z.boolean(), tools: z.array(z.string()), detail: z.string().nullable() },
      {
        ok: 'Whether it could be reached and listed its tools.',
        tools: 'Names of its tools.',
        detail: 'Why it failed; null when it did not.',
      },
    ),
  )
  .meta({ id: 'McpTest' })
export type McpTest = z.infer<typeof McpTest>

export const McpConfig = z
  .object(
    described(
      {
        sse_servers: z.array(SseServer).max(50).default([]),
        stdio_servers: z.array(StdioServer).max(50).default([]),
        shttp_servers: z.array(ShttpServer).max(50).default([]),
      },
      {
        sse_servers: 'Reached over HTTP with server-sent events.',
        stdio_servers: 'Programs that run inside the sandbox.',
        shttp_servers: 'Reached over streamable HTTP.',
      },
    ),
  )
  .meta({ id: 'McpConfig' })
export type McpConfig = z.infer<typeof McpConfig>

const maskKey = (key: string | null): string | null => (key === null || key === '' ? null : masked)

/** The configuration as it may be answered: keys and the values of variables are masked. */
export const maskedMcpConfig = (config: McpConfig): McpConfig => ({
  sse_servers: config.sse_servers.map((server) => ({ ...server, api_key: maskKey(server.api_key) })),
  shttp_servers: config.shttp_servers.map((server) => ({ ...server, api_key: maskKey(server.api_key) })),
  stdio_servers: config.stdio_servers.map((server) => ({
    ...server,
    env: Object.fromEntries(Object.keys(server.env).map((name) => [name, masked])),
  })),
})

/** Variables of a program whose value opens something; others hold modes and paths, and hiding those would garble any text. */
const opening = /key|token|secret|pass|credential|auth/i

/** What the servers are let in with. */
export const mcpKeys = (config: McpConfig | null): string[] => [
  ...[...(config?.sse_servers ?? []), ...(config?.shttp_servers ?? [])].flatMap(({ api_key }) => api_key ?? []),
  ...(config?.stdio_servers ?? []).flatMap(({ env }) =>
    Object.entries(env).flatMap(([name, value]) => (opening.test(name) ? [value] : [])),
  ),
]

/** The key of a server that was sent: a mask stands for what is stored for the same address. */
export const keyFor = (
  sent: { url: string; api_key: string | null },
  stored: { url: string; api_key: string | null }[],
) => {
  if (sent.api_key !== masked) return sent.api_key
  return stored.find((server) => server.url === sent.url)?.api_key ?? null
}

const envFor = (sent: StdioServer, stored: StdioServer[]): Record<string, string> => {
  // A program is known by all that decides what it does with a value: another command does not inherit the old values.
  const before = stored.find(
    (server) =>
      server.name === sent.name &&
      server.command === sent.command &&
      JSON.stringify(server.args) === JSON.stringify(sent.args),
  )
  const entries = Object.entries(sent.env).map(([name, text]): [string, string | undefined] => [
    name,
    text !== masked ? text : before && Object.hasOwn(before.env, name) ? before.env[name] : undefined,
  ])
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** The configuration that was sent, with masks replaced by what is stored for the same address or the same program. */
export const unmaskedMcpConfig = (sent: McpConfig, stored: McpConfig | null): McpConfig => ({
  sse_servers: sent.sse_servers.map((server) => ({ ...server, api_key: keyFor(server, stored?.sse_servers ?? []) })),
  shttp_servers: sent.shttp_servers.map((server) => ({
    ...server,
    api_key: keyFor(server, stored?.shttp_servers ?? []),
  })),
  stdio_servers: sent.stdio_servers.map((server) => ({ ...server, env: envFor(server, stored?.stdio_servers ?? []) })),
})
