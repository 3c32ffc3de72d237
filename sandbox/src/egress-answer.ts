import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Outgoing } from './egress.ts'

/*
 * What the proxy says itself. Many programs show of a refused tunnel nothing but its status line, so that says whose
 * refusal it is.
 */

const titles: Record<number, string> = {
  400: 'Bad Request',
  403: 'Refused by the network policy of Parley',
  502: 'Bad Gateway',
}

export const refusalText = ({ host, port }: Outgoing, reason: string): string =>
  `Parley does not let this sandbox reach ${host}:${port}: ${reason}`

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export function refuse(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const body = `${text}\n`
  const mark = status === 403 ? { 'X-Parley-Egress': 'refused' } : {}
  const type = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }
  response.writeHead(status, titles[status], { ...type, ...mark }).end(body)
}

export function refuseTunnel(client: Duplex, status: number, text: string): void {
  const body = `${text}\n`
  const mark = status === 403 ? 'X-Parley-Egress: refused\r\n' : ''
  const type = `Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n`
  client.end(`HTTP/1.1 ${status} ${titles[status] ?? 'Error'}\r\n${mark}${type}\r\n${body}`)
}
