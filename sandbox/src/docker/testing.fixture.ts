import { readFile, readdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEngine, type TestingEngine } from '../../../tests/tools/docker-engine.ts'
import type { Opened } from '../conformance-sentence.ts'
import { openGreeting } from '../greeting.fixture.ts'
import { containerName } from './container.ts'
import { dockerDriver } from './driver.ts'

/** The driver before an upstream that greets; the gate knows one host. */
export async function openDocker(imageOf = (engine: TestingEngine) => engine.image): Promise<Opened> {
  const testing = await startEngine()
  const { engine, host, stop } = testing
  const folder = await mkdtemp(join(tmpdir(), 'parley-docker-'))
  const greeting = await openGreeting()
  const driver = dockerDriver({
    stateDir: join(folder, 'state'),
    runtimeDir: join(folder, 'run'),
    egress: greeting.egress,
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
      greeting.close()
      await stop()
      await rm(folder, { recursive: true })
    },
  }
}
