import { nameFilter } from '../tools/name-filter.ts'
import type { Tool } from '../tools/tool.ts'
import type { McpServer } from './config.ts'
import type { McpPlace } from './connect.ts'
import { type McpStatus, type ServerLink, serverLink } from './server.ts'
import { mcpTools } from './tools.ts'

/*
 * All servers of a conversation, started side by side. A server that fails or is slow never stops the conversation: its tools
 * are missing, and the status says why.
 */

const waitMs = 5_000

export interface McpServers {
  /** Waits up to 5 s for servers that are not there yet, and tries failed ones again. Never rejects. */
  settle(): Promise<void>
  statuses(): McpStatus[]
  /** `taken`: names of tools that stay as they are. `filter`: a regular expression for names; null: all. */
  tools(taken: readonly string[], filter: string | null): Tool[]
  close(): Promise<void>
}

export function openMcpServers(servers: Readonly<Record<string, McpServer>>, place: McpPlace): McpServers {
  const links = Object.entries(servers).map(([name, server]): ServerLink => serverLink(name, server, place))
  return {
    async settle() {
      await Promise.all(links.map((link) => link.settle(waitMs)))
    },
    statuses: () => links.map((link) => link.status()),
    tools(taken, filter) {
      const names = new Set(taken)
      return links.flatMap((link) => {
        const tools = mcpTools(link, { taken: names, several: links.length > 1, matches: nameFilter(filter) })
        for (const { name } of tools) names.add(name)
        return tools
      })
    },
    async close() {
      await Promise.allSettled(links.map((link) => link.close()))
    },
  }
}
