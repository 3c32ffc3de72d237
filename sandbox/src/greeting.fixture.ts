import { connect, createServer, type AddressInfo } from 'node:net'
import type { Dial, Gate } from './egress.ts'

export interface Greeting {
  egress: { gate: Gate; dial: Dial }
  close(): void
}

/** A way out to an upstream that greets, whatever it is asked; the gate knows one host. */
export async function openGreeting(): Promise<Greeting> {
  const upstream = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\nhello from outside'))
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const { port } = upstream.address() as AddressInfo
  const decide: Gate['decide'] = async ({ host }) =>
    host === 'allowed.test' ? { allow: true } : { allow: false, reason: 'not on the list' }
  return {
    egress: { gate: { decide }, dial: async () => connect(port, '127.0.0.1') },
    close: () => void upstream.close(),
  }
}
