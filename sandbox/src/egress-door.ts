/*
 * Where sandboxes that share no folder with this machine come to their way out: an address of ours on which each says who
 * it is, with a word that it was told and that is good for nothing else. After `CONNECT` with that word the connection is
 * the sandbox's, exactly as one on a socket of its own.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

export interface Door {
  readonly host: string
  readonly port: number
  /** Lets in who says this name and the word that is given back. */
  admit(name: string, take: (connection: Duplex) => void): string
  dismiss(name: string): void
  close(): Promise<void>
}

const mostConnections = 5_000
const headersMs = 10_000

/** Rejects when nobody can listen there. Port 0: any that is free. */
export async function openDoor(host: string, port: number): Promise<Door> {
  const guests = new Map<string, { word: Buffer; take: (connection: Duplex) => void }>()
  const open = new Set<Duplex>()
  const server = createServer({ maxHeaderSize: 4096, headersTimeout: headersMs, requestTimeout: headersMs })
  server.maxConnections = mostConnections
  server.on('connection', (socket: Duplex) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy())
  })
  server.on('request', (_, response) => response.writeHead(404).end())
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const [name, word] = said(request)
    const guest = guests.get(name)
    if (guest === undefined || !same(guest.word, word))
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nConnection: close\r\n\r\n')
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (head.length > 0) socket.unshift(head)
    guest.take(socket)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return {
    host,
    port: (server.address() as AddressInfo).port,
    admit(name, take) {
      const word = randomBytes(24).toString('hex')
      guests.set(name, { word: Buffer.from(word), take })
      return word
    },
    dismiss: (name) => void guests.delete(name),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

function said({ headers }: IncomingMessage): [name: string, word: Buffer] {
  const basic = /^Basic (\S+)$/i.exec(headers['proxy-authorization'] ?? '')?.[1] ?? ''
  const [name = '', word = ''] = Buffer.from(basic, 'base64').toString().split(':')
  return [name, Buffer.from(word)]
}

const same = (one: Buffer, other: Buffer) => one.length === other.length && timingSafeEqual(one, other)
