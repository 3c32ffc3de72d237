import { ErrorCode, McpError, type CallToolResult, type Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js'
import type { McpServer } from './config.ts'
import { type Connection, connect, listedTools, type McpPlace, reason } from './connect.ts'

export interface McpStatus {
  name: string
  status: 'starting' | 'ready' | 'failed'
  tools: number
  detail: string | null
}

/** Whether a call had an effect is not known: it was under way when the connection broke. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost'
}

/** One configured server over the life of a conversation in memory. */
export interface ServerLink {
  readonly name: string
  readonly server: McpServer
  /** Resolves when it is connected, has failed, or `waitMs` are over; starting goes on in the background. Never rejects. */
  settle(waitMs: number): Promise<void>
  status(): McpStatus
  tools(): readonly ListedTool[]
  call(tool: string, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>
  close(): Promise<void>
}

/** A program may have to be fetched before it runs for the first time. */
const startMs = 60_000
const listMs = 5_000

export function serverLink(name: string, server: McpServer, place: McpPlace): ServerLink {
  const over = new AbortController()
  let connection: Connection | null = null
  let failure: string | null = null
  let starting: Promise<void> | null = null

  const open = (): Promise<void> => {
    starting ??= connect(server, place, AbortSignal.any([over.signal, AbortSignal.timeout(startMs)])).then(
      (made) => {
        connection = made
        failure = null
      },
      (error: unknown) => {
        failure = reason(error)
      },
    )
    return starting.finally(() => (starting = null))
  }

  async function relist(open: Connection): Promise<void> {
    open.stale = false
    try {
      open.tools = await listedTools(open.client, AbortSignal.timeout(listMs))
    } catch (error) {
      failure = reason(error)
    }
  }

  async function alive(): Promise<Connection> {
    if (connection === null || connection.closed) {
      connection = null
      await open()
    }
    if (connection === null) throw new Error(`The server ${name} cannot be reached: ${failure ?? 'it was closed'}`)
    return connection
  }

  return {
    name,
    server,
    async settle(waitMs) {
      const ready = connection !== null && !connection.closed ? (connection.stale ? relist(connection) : null) : open()
      // One that has failed before is tried again, but nobody waits for it.
      if (ready !== null && failure === null) await Promise.race([ready, after(waitMs)])
    },
    status() {
      const up = connection !== null && !connection.closed
      const status = up ? 'ready' : starting === null ? 'failed' : 'starting'
      return { name, status, tools: up ? (connection?.tools.length ?? 0) : 0, detail: up ? null : failure }
    },
    tools: () => (connection === null || connection.closed ? [] : connection.tools),
    async call(tool, args, signal) {
      const first = await alive()
      try {
        return await send(first, tool, args, signal, server.timeoutMs)
      } catch (error) {
        // The server said that it does not know the session, so it has not done anything: once more with a new one.
        if (!isUnknownSession(error)) throw first.closed ? new ConnectionLost(reason(error), { cause: error }) : error
        await first.close()
        first.closed = true
        return send(await alive(), tool, args, signal, server.timeoutMs)
      }
    },
    async close() {
      over.abort(new Error('the conversation rests'))
      await starting
      await connection?.close()
      connection = null
    },
  }
}

const send = (
  connection: Connection,
  name: string,
  args: Record<string, unknown>,
  signal: AbortSignal,
  timeout: number,
) => connection.client.callTool({ name, arguments: args }, undefined, { signal, timeout }) as Promise<CallToolResult>

const isUnknownSession = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof McpError) && 'code' in error && error.code === 404

/** The server did not answer in time, or broke off. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof ConnectionLost ||
  (error instanceof McpError && [ErrorCode.RequestTimeout, ErrorCode.ConnectionClosed].includes(error.code))

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())
