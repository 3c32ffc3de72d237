import { Duplex } from 'node:stream'
import type { Hands } from './driver.ts'
import { filesOver } from './files.ts'
import { jobsOver } from './jobs.ts'
import { openShell } from './shell.ts'
import { runOverWorkers, type Spawn } from './worker.ts'

/** All of a sandbox's hands from the one thing that every engine's exec gives: a process with three streams. */
export function handsOver(spawn: Spawn): Hands {
  const run = runOverWorkers(spawn)
  return {
    spawn,
    run,
    files: filesOver(run),
    jobs: jobsOver(spawn, run),
    shell: (options) => openShell(spawn, options),
    async connect(port) {
      if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`not a port: ${port}`)
      return connectOver(spawn, port)
    },
  }
}

/** Rejects when nothing listens there. */
async function connectOver(spawn: Spawn, port: number): Promise<Duplex> {
  // The bridge says that it is connected before any byte of the stream.
  const process = spawn({
    argv: ['socat', '-d', '-d', '-T', '3600', 'STDIO', `TCP4:127.0.0.1:${port},connect-timeout=10`],
    cwd: '/',
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let said = ''
  process.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000)
    if (said.includes('starting data transfer loop')) resolve()
  })
  void process.ended.then(() => reject(new Error(`nothing answers on port ${port} of the sandbox`)))
  await promise
  const stream = Duplex.from({ readable: process.stdout, writable: process.stdin }) as Duplex
  stream.on('error', () => undefined) // a reader that cares listens for it too
  stream.on('close', () => void process.kill(0))
  return stream
}
