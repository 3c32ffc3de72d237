import { z } from 'zod'
import { type McpServer, mcpServers } from '../mcp/config.ts'

/*
 * MCP servers that a definition brings along for its sub-agent. A definition is a file of a repository, which nobody was asked
 * about: its programs run in the sandbox as its hooks do, without any secret, and an address, which would be called from
 * outside the sandbox, is not taken.
 */

export interface OwnServers {
  programs: Record<string, McpServer>
  /** Names without a server and servers that are addresses: what the parent has is there anyway, and the rest is not. */
  idle: string[]
}

const most = 5
const Named = z.record(z.string(), z.unknown())

/** A map of servers, or a list of names and of such maps. */
export const OwnServers = z
  .union([Named.transform((one) => [one]), z.array(z.union([z.string(), Named]))])
  .transform((said, ctx): OwnServers => {
    try {
      const all = said.flatMap((one): [string, McpServer | null][] =>
        typeof one === 'string' ? [[one, null]] : Object.entries(mcpServers(one)),
      )
      const programs = all.flatMap(([name, server]) => (server?.kind === 'stdio' ? [[name, server] as const] : []))
      if (programs.length > most) ctx.addIssue({ code: 'custom', message: `at most ${most} programs can be started` })
      return {
        programs: Object.fromEntries(programs.map(([name, server]) => [name, { ...server, bare: true }])),
        idle: all.filter(([, server]) => server?.kind !== 'stdio').map(([name]) => name),
      }
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error
      const [issue] = error.issues
      ctx.addIssue({ code: 'custom', path: issue?.path ?? [], message: issue?.message ?? 'it cannot be read' })
      return z.NEVER
    }
  })
