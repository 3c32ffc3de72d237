import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** A port that is free now, for a server that is asked to choose one: its address is told to others before it listens. */
export async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
