import { EventEmitter } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Another site on the same port: what it takes reaches none of our endpoints. Neither function may throw. */
export interface Divert {
  takes(request: IncomingMessage): boolean
  request(request: IncomingMessage, response: ServerResponse): void
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

/** Puts the other site before the server's own listener. Gives the emitter of `upgrade` for what is left to us. */
export function divertFrom(server: Server, divert: Divert | undefined): EventEmitter {
  const upgrades = new EventEmitter()
  const own = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (divert?.takes(request)) return divert.request(request, response)
    for (const listener of own) listener(request, response)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (divert?.takes(request)) divert.upgrade(request, socket, head)
    else upgrades.emit('upgrade', request, socket, head)
  })
  return upgrades
}
