import { readFile, readdir, mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEngine, type TestingEngine } from '../../../tests/tools/docker-engine.ts'
import type { Opened } from '../conformance-sentence.ts'
import { containerName } from './container.ts'
import { dockerDriver } from './driver.ts'

/** The driver before an upstream that greets; the gate knows one host. */
export async function openDocker(imageOf = (engine: TestingEngine) => engine.image): Promise<Opened> {
  const testing = await startEngine()
  const { engine, host, stop } = testing
  const folder = await mkdtemp(join(tmpdir(), 'parley-docker-'))
  const upstream = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\nhello from outside'))
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const { port } = upstream.address() as AddressInfo
  const driver = dockerDriver({
    stateDir: join(folder, 'state'),
    runtimeDir: join(folder, 'run'),
    egress: {
      gate: {
        decide: async ({ host }) =>
          host === 'allowed.test' ? { allow: true } : { allow: false, reason: 'not on the list' },
      },
      dial: async () => connect(port, '127.0.0.1'),
    },
    host,
    image: imageOf(testing),
    log: () => undefined,
  })
  return {
    driver,
    isolated: true,
    limits: true,
    endSandbox: (id) => engine.getContainer(containerName(id)).kill(),
    async leftovers(id) {
      const containers = await engine.listContainers({ all: true, filters: { name: [id] } })
      const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').filter((line) => line.includes(id))
      const names = await Promise.all(['state', 'run'].map((part) => readdir(join(folder, part))))
      return [...containers.map(({ Id }) => Id), ...mounts, ...names.flat().filter((name) => name === id)]
    },
    async close() {
      await driver[Symbol.asyncDispose]()
      upstream.close()
      await stop()
      await rm(folder, { recursive: true })
    },
  }
}
