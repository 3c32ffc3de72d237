import { closeTools } from '@parley/agent/loop/loop'
import type { ToolMemory } from '@parley/agent/loop/work'
import type { McpServers } from '@parley/agent/mcp/servers'
import type { Tool } from '@parley/agent/tools/tool'
import type { LogEvent } from '@parley/contract/events'

/*
 * What a run leaves in memory for the next one: the log it has read and the shell it has opened. Nothing here is needed, for
 * the log can be read again; it makes the next message start faster. Few are kept, and none for long.
 */

const most = 500
const eventsForMs = 2 * 60_000
const shellForMs = 20 * 60_000

interface Held {
  events: LogEvent[] | undefined
  memory: ToolMemory
  tools: readonly Tool[]
  /** Open connections; null: the conversation has no servers. */
  servers: McpServers | null
}

export type Kept = ReturnType<typeof keptRuns>

export function keptRuns() {
  const held = new Map<string, Held & { timers: NodeJS.Timeout[] }>()

  function release(id: string): Held | undefined {
    const one = held.get(id)
    held.delete(id)
    one?.timers.forEach((timer) => clearTimeout(timer))
    return one
  }

  async function drop(id: string): Promise<void> {
    const one = release(id)
    if (one === undefined) return
    await Promise.all([closeTools(one.tools, one.memory), one.servers?.close()])
  }

  return {
    /** For one run alone; it gives it back with `put`. */
    take: (id: string): Omit<Held, 'tools'> | undefined => release(id),

    put(id: string, one: Held): void {
      const timers = [
        setTimeout(() => {
          const there = held.get(id)
          if (there !== undefined) there.events = undefined
        }, eventsForMs).unref(),
        setTimeout(() => void drop(id).catch(() => {}), shellForMs).unref(),
      ]
      held.set(id, { ...one, timers })
      const oldest = held.size > most ? held.keys().next().value : undefined
      if (oldest !== undefined) void drop(oldest).catch(() => {})
    },

    drop,

    async close(): Promise<void> {
      await Promise.allSettled([...held.keys()].map(drop))
    },
  }
}
