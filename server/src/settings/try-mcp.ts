import { settingsServers } from '@parley/agent/mcp/config'
import { connect, reason } from '@parley/agent/mcp/connect'
import { keyFor, type McpConfig, type McpTest, type McpTestRequest } from '@parley/contract/mcp-config'
import type { SecretsService } from '../secrets/service.ts'

/** Whether an MCP server answers, tried by connecting to it as a conversation would. */

const longestMs = 15_000
const noHands = () => Promise.reject(new Error('A program is tried in a sandbox only.'))

interface Parts {
  /** The only way to servers that are reached by address. */
  fetch: typeof fetch
  secrets: Pick<SecretsService, 'values'>
}

export const mcpTrier =
  ({ fetch: way, secrets }: Parts) =>
  async (owner: string, asked: McpTestRequest, stored: McpConfig | null, signal: AbortSignal): Promise<McpTest> => {
    const { kind, url } = asked
    const known = (kind === 'sse' ? stored?.sse_servers : stored?.shttp_servers) ?? []
    const one = { url, api_key: keyFor(asked, known), timeout: null }
    const config = { stdio_servers: [], sse_servers: [], shttp_servers: [], [`${kind}_servers`]: [one] }
    const [server] = Object.values(settingsServers(config))
    if (server === undefined) throw new Error('a configuration with one server gives one')
    const place = { hands: noHands, workingDir: '/', fetch: way, secretsFor: (text: string) => named(owner, text) }
    try {
      const connection = await connect(server, place, AbortSignal.any([signal, AbortSignal.timeout(longestMs)]))
      await connection.close()
      return { ok: true, tools: connection.tools.map(({ name }) => name), detail: null }
    } catch (error) {
      if (signal.aborted) throw signal.reason
      return { ok: false, tools: [], detail: reason(error) }
    }

    /** The secrets of the person that the text names as `${NAME}`. */
    async function named(whose: string, text: string): Promise<Record<string, string>> {
      if (!text.includes('${')) return {}
      const values = await secrets.values(whose)
      return Object.fromEntries(
        values.filter(({ name }) => text.includes(name)).map(({ name, shown }) => [name, shown]),
      )
    }
  }

export type TryMcp = ReturnType<typeof mcpTrier>
