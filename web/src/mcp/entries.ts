import type { McpConfig, McpTest, McpTestRequest, StdioServer } from '@parley/contract/mcp-config'
import { client } from '../api.ts'

/* The three lists of the configuration as one. */

export type Kind = 'shttp' | 'sse' | 'stdio'
export interface Entry {
  kind: Kind
  /** In the list of its kind. */
  at: number
  name: string
  hasKey: boolean
  address: { url: string; api_key: string | null } | null
}

export const noServers: McpConfig = { sse_servers: [], stdio_servers: [], shttp_servers: [] }

export function entriesOf(config: McpConfig): Entry[] {
  const reached = (kind: 'shttp' | 'sse') =>
    config[`${kind}_servers`].map(({ url, api_key }, at): Entry => ({
      kind,
      at,
      name: url,
      hasKey: api_key !== null,
      address: { url, api_key },
    }))
  const programs = config.stdio_servers.map(({ name, command, args }, at): Entry => ({
    kind: 'stdio',
    at,
    name: `${name}: ${[command, ...args].join(' ')}`,
    hasKey: false,
    address: null,
  }))
  return [...reached('shttp'), ...reached('sse'), ...programs]
}

export const without = (config: McpConfig, { kind, at }: Entry): McpConfig => ({
  ...config,
  [`${kind}_servers`]: config[`${kind}_servers`].filter((_, index) => index !== at),
})

export const withAddress = (config: McpConfig, { kind, url, api_key }: McpTestRequest): McpConfig =>
  kind === 'sse'
    ? { ...config, sse_servers: [...config.sse_servers, { url, api_key }] }
    : { ...config, shttp_servers: [...config.shttp_servers, { url, api_key, timeout: null }] }

export const withProgram = (config: McpConfig, program: StdioServer): McpConfig => ({
  ...config,
  stdio_servers: [...config.stdio_servers, program],
})

/** Asks the server for its tools, with the stored key. */
export async function test({ kind, address }: Entry): Promise<McpTest> {
  if (kind === 'stdio' || address === null) throw new Error('a program is tried in a sandbox only')
  return client.settings.testMcp({ body: { kind, ...address } })
}

/** `NAME=value` a line; what has no `=` is left out. */
export const variablesIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.includes('='))
      .map((line) => [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1)]),
  )

/** An argument a line. */
export const argumentsIn = (text: string): string[] => text.split('\n').filter((line) => line !== '')
