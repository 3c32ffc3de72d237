import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { Command, Hands, Process } from '@parley/sandbox/driver'

/** A message of a server may be so large. */
const mostBytes = 10 * 1024 * 1024
const keptErrors = 2_000
const graceMs = 1_000

/** A program in the sandbox that speaks over its standard streams, a line for each message. */
export interface StdioTransport extends Transport {
  /** The last of what it wrote to its standard error. */
  complaint(): string
}

export function stdioTransport(hands: Hands, command: Command): StdioTransport {
  const buffer = new ReadBuffer({ maxBufferSize: mostBytes })
  let process: Process | null = null
  let errors = ''
  const transport: StdioTransport = {
    async start() {
      process = hands.spawn(command)
      process.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-keptErrors)))
      process.stdin.on('error', () => {}) // its end is told by `ended`
      process.stdout.on('data', (chunk: Buffer) => take(transport, buffer, chunk))
      void process.ended.then(() => transport.onclose?.())
    },
    async send(message) {
      const to = process
      if (to === null) throw new Error('the server was closed')
      const failed = await new Promise<unknown>((resolve) => to.stdin.write(serializeMessage(message), resolve))
      if (!failed) return
      const { code, signal } = await to.ended
      throw new Error(`the server ended with ${code === null ? signal : `code ${code}`}`, { cause: failed })
    },
    async close() {
      buffer.clear()
      const was = process
      process = null
      await was?.kill(graceMs)
      transport.onclose?.()
    },
    complaint: () => errors.trim().split('\n').slice(-5).join('\n'),
  }
  return transport
}

function take(transport: Transport, buffer: ReadBuffer, chunk: Buffer): void {
  try {
    buffer.append(chunk)
  } catch (error) {
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)))
    void transport.close()
    return
  }
  for (;;) {
    let message: JSONRPCMessage | null
    try {
      message = buffer.readMessage()
    } catch {
      continue // a line that is no message: some programs print a greeting
    }
    if (message === null) return
    transport.onmessage?.(message)
  }
}
