import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '@parley/contract/problems'
import { problemBody, problemHeaders } from './problem.ts'

/*
 * Requests that never became one: the parser of HTTP gave up. The answer is written on the bare socket.
 */

interface ParserError extends Error {
  code?: string | undefined
  rawPacket?: Buffer | undefined
}

function codeOf({ code, rawPacket }: ParserError): Problem['code'] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout'
  if (code !== 'HPE_HEADER_OVERFLOW') return 'malformed_request'
  const start = rawPacket?.toString('latin1', 0, 16 * 1024) ?? ''
  return /^[A-Z]+ \//.test(start) && !start.includes('\r\n') ? 'uri_too_long' : 'headers_too_large'
}

/** Says what was wrong and closes; what still comes in is read for a second, or the answer would be lost with a reset. */
export function answerBrokenRequest(error: ParserError, socket: Socket, base: Record<string, string>): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  if (socket.writableEnded) return
  const problem = new Problem(codeOf(error))
  const id = randomUUID()
  const body = JSON.stringify(problemBody(problem, id))
  const headers = { ...base, ...problemHeaders(problem), 'x-request-id': id, connection: 'close' }
  const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body) }).map(([n, v]) => `${n}: ${v}`)
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
  const linger = setTimeout(() => socket.destroy(), 1000)
  socket.once('close', () => clearTimeout(linger))
}
