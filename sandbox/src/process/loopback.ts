/*
 * A way out that a program finds by a port of this machine, where there is no network of its own in which it could be any
 * port. Who asks is not known from a port: at least it has to be a program of this user.
 */
import { readFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface Loopback {
  port: number
  /** Every connection ends. */
  close(): Promise<void>
}

const mostConnections = 200

/** @param socketPath Where connections lead; it need not be there yet. */
export async function openLoopback(socketPath: string): Promise<Loopback> {
  const open = new Set<Socket>()
  const keep = (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => open.delete(socket))
  }
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    keep(socket)
    void isOurs(socket).then((ours) => {
      if (!ours) return void socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\nthis is of another user\n')
      const onward = connect({ path: socketPath, allowHalfOpen: true })
      keep(onward)
      socket.pipe(onward).pipe(socket)
      socket.on('close', () => onward.destroy())
      onward.on('close', () => socket.destroy())
    })
  })
  server.maxConnections = mostConnections
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

/** The system's list of sockets says whose the other end is. */
async function isOurs({ remotePort = 0, localPort = 0 }: Socket): Promise<boolean> {
  const place = (port: number) => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const ends = ` ${place(remotePort)} ${place(localPort)} `
  const line = (await readFile('/proc/net/tcp', 'utf8')).split('\n').find((one) => one.includes(ends))
  return Number(line?.trim().split(/\s+/)[7] ?? -1) === process.getuid?.()
}
