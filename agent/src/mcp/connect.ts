import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ToolListChangedNotificationSchema, type Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js'
import type { Hands } from '@parley/sandbox/driver'
import type { McpServer } from './config.ts'
import { stdioTransport } from './stdio.ts'
import { filled } from './variables.ts'

/** What a server is started with. */
export interface McpPlace {
  /** Programs run in the conversation's sandbox. */
  hands: (signal: AbortSignal) => Promise<Hands>
  workingDir: string
  /** The only way to servers that are reached by address. */
  fetch: typeof fetch
  /** Values of the secrets that a text names. */
  secretsFor: (text: string) => Promise<Record<string, string>>
}

/** An open connection. `closed` and `stale` are set by what the server does meanwhile. */
export interface Connection {
  client: Client
  tools: ListedTool[]
  closed: boolean
  /** The server has other tools than those listed. */
  stale: boolean
  close(): Promise<void>
}

const mostPages = 10
const mostTools = 100
const closeMs = 2_000

/** Connects and lists the tools. Rejects with the reason in words, and leaves nothing running, when it fails or the signal comes. */
export async function connect(server: McpServer, place: McpPlace, signal: AbortSignal): Promise<Connection> {
  const isBare = server.kind === 'stdio' && server.bare === true
  const ready = isBare ? server : filled(server, await place.secretsFor(JSON.stringify(server)))
  const { transport, complaint } = await transportOf(ready, place, signal)
  const client = new Client({ name: 'parley', version: '1' }, { capabilities: {} })
  const connection: Connection = { client, tools: [], closed: false, stale: false, close: () => closed(client) }
  client.onclose = () => (connection.closed = true)
  client.onerror = () => {} // told by the call that fails
  try {
    await abortable(client.connect(transport, { signal }), signal)
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (connection.stale = true))
    connection.tools = await listedTools(client, signal)
    return connection
  } catch (error) {
    await closed(client)
    await transport.close().catch(() => {})
    const said = complaint()
    throw new Error(`${reason(error)}${said === '' ? '' : `\n${said}`}`, { cause: error })
  }
}

export async function listedTools(client: Client, signal: AbortSignal): Promise<ListedTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return []
  const tools: ListedTool[] = []
  let cursor: string | undefined
  for (let page = 0; page < mostPages && tools.length < mostTools; page += 1) {
    const answer = await abortable(client.listTools(cursor === undefined ? {} : { cursor }, { signal }), signal)
    tools.push(...answer.tools)
    cursor = answer.nextCursor
    if (cursor === undefined) break
  }
  return tools.slice(0, mostTools)
}

async function transportOf(server: McpServer, { hands, workingDir, fetch }: McpPlace, signal: AbortSignal) {
  if (server.kind === 'stdio') {
    const { command, args, env, cwd } = server
    const transport = stdioTransport(await hands(signal), { argv: [command, ...args], cwd: cwd ?? workingDir, env })
    return { transport, complaint: () => transport.complaint() }
  }
  const url = new URL(server.url)
  const options = { fetch, requestInit: { headers: server.headers } }
  const transport =
    server.kind === 'sse' ? new SSEClientTransport(url, options) : new StreamableHTTPClientTransport(url, options)
  // The library's own type of the member is looser than the interface under exact optional properties.
  return { transport: transport as Transport, complaint: () => '' }
}

/** Ends the connection whether or not the server answers to that. */
async function closed(client: Client): Promise<void> {
  const late = new Promise<void>((resolve) => setTimeout(resolve, closeMs).unref())
  await Promise.race([client.close().catch(() => {}), late])
}

/** As the promise, or the signal's reason. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** In words; `fetch failed` alone would say nothing. */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error && error.cause.message !== '' ? ` (${error.cause.message})` : ''
  return `${error.message}${cause}`.slice(0, 1_000)
}
