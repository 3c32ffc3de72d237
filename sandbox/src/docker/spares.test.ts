import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { engineLacks, startEngine, type TestingEngine } from '../../../tests/tools/docker-engine.ts'
import { busybox } from '../../../tests/tools/image-root.ts'
import { limit, specOf, text } from '../conformance-sentence.ts'
import type { Driver } from '../driver.ts'
import { dockerDriver } from './driver.ts'

const { limits } = specOf()

const kept = (image: string | null) => ({ image, most: 1, limits })

interface Opening {
  asked?: string[]
  /** Beside the usual one. */
  images?: string[]
}

const openDriver = (folder: string, { host, image }: TestingEngine, { asked = [], images = [] }: Opening = {}) =>
  dockerDriver({
    stateDir: join(folder, 'state'),
    runtimeDir: join(folder, 'run'),
    egress: {
      gate: {
        decide: async ({ sandboxId }) => {
          asked.push(sandboxId)
          return { allow: false, reason: 'nothing is allowed' }
        },
      },
      dial: () => Promise.reject(new Error('not dialled')),
    },
    spares: [null, ...images].map(kept),
    host,
    image,
    log: () => undefined,
  })

const containers = async ({ engine }: TestingEngine) =>
  (await engine.listContainers({ all: true })).map(({ Id, Names, State }) => ({ Id, name: Names[0] ?? '', State }))

/** Starts it until it took over a container that ran before as nobody's: one that is still being raised is not taken. */
async function takeOver(driver: Driver, testing: TestingEngine, id: string): Promise<boolean> {
  for (let tries = 0; tries < 50; tries++) {
    const before = (await containers(testing)).find(({ name, State }) => name.includes('spare') && State === 'running')
    if (before !== undefined) {
      await driver.start(specOf({ id, env: { WHOSE: 'mine' } }), limit())
      if ((await containers(testing)).find(({ name }) => name.includes(id))?.Id === before.Id) return true
      await driver.remove(id)
    }
    await sleep(100)
  }
  return false
}

const skip = await engineLacks()
const sentence =
  'a start takes over a container that is ready, which is then the tenant’s in every way and is gone with him'

test(`docker: ${sentence}`, { skip }, async () => {
  const testing = await startEngine()
  const folder = await mkdtemp(join(tmpdir(), 'parley-docker-'))
  const asked: string[] = []
  const [first, second] = [randomUUID(), randomUUID()]
  try {
    const driver = openDriver(folder, testing, { asked })
    await driver.start(specOf({ id: first }), limit())
    assert.ok(await takeOver(driver, testing, second))
    assert.deepEqual((await driver.list()).map(({ id }) => id).sort(), [first, second].sort())

    const hands = await driver.hands(second)
    const ask = `cd /workspace; echo "$WHOSE" | tee file
printf 'GET http://x.test/ HTTP/1.0\\r\\n\\r\\n' | socat -T5 - TCP4:127.0.0.1:3128 | head -n 1`
    assert.match(await text(hands, ask), /^mine\nHTTP\/1\.1 403/)
    assert.equal(asked.at(-1), second)
    await driver[Symbol.asyncDispose]()
    assert.deepEqual(await containers(testing), [])

    await using again = openDriver(folder, testing)
    await again.start(specOf({ id: second }), limit())
    assert.equal(String(await (await again.hands(second)).files.read('/workspace/file')), 'mine\n')
    for (const id of [first, second]) await again.remove(id)
  } finally {
    await testing.stop()
    await rm(folder, { recursive: true, force: true })
  }
})

/** Ids of the containers that are nobody's and run, by image, once there are so many and nothing more is being made. */
async function spares(testing: TestingEngine, many: number): Promise<Map<string, string>> {
  for (let tries = 0; tries < 300; tries++) {
    const found = (await containers(testing)).filter(({ name, State }) => name.includes('spare') && State === 'running')
    if (found.length === many) {
      await sleep(1_000) // one that runs is ready a moment later
      const { engine } = testing
      const images = await Promise.all(found.map(({ Id }) => engine.getContainer(Id).inspect()))
      return new Map(images.map(({ Image, Id }) => [Image, Id]))
    }
    await sleep(100)
  }
  throw new Error(`there are not ${many} that are ready`)
}

/** An engine that has two images, a folder, and drivers that keep one of each ready. */
async function openPool() {
  const testing = await startEngine()
  const { engine, image, busyboxImage: other = '' } = testing
  const folder = await mkdtemp(join(tmpdir(), 'parley-docker-'))
  const drivers: Driver[] = []
  const idOf = async (name: string) => (await engine.getImage(name).inspect()).Id
  return {
    testing,
    other,
    usualId: await idOf(image),
    otherId: await idOf(other),
    spareFiles: async () => (await readdir(join(folder, 'state'))).filter((name) => name.startsWith('spare')),
    containerOf: async (id: string) => (await containers(testing)).find(({ name }) => name.includes(id))?.Id,
    open(...more: string[]) {
      const driver = openDriver(folder, testing, { images: [other, ...more] })
      drivers.unshift(driver)
      return driver
    },
    async [Symbol.asyncDispose]() {
      for (const driver of drivers) await driver[Symbol.asyncDispose]()
      await testing.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const idsOf = async (driver: Driver) => (await driver.list()).map(({ id }) => id).sort()
const skipPool = skip ?? ((await busybox()) === undefined ? 'needs busybox-static' : undefined)

test('docker: of each image as many are ready as was said, and a start takes its own', { skip: skipPool }, async () => {
  await using pool = await openPool()
  const { testing, other, usualId, otherId } = pool
  const [first, second] = [randomUUID(), randomUUID()]
  const driver = pool.open('parley-test/none:1')
  await driver.start(specOf({ id: first }), limit())
  const ready = await spares(testing, 2)
  assert.deepEqual([...ready.keys()].sort(), [usualId, otherId].sort())
  assert.deepEqual(await idsOf(driver), [first])

  await driver.start(specOf({ id: second, image: other }), limit())
  assert.equal(await pool.containerOf(second), ready.get(otherId))
  assert.equal(await text(await driver.hands(second), 'id -un; echo /home/agent/*'), 'agent\n/home/agent/*\n')
  const filled = await spares(testing, 2)
  assert.equal(filled.get(usualId), ready.get(usualId))
  assert.notEqual(filled.get(otherId), ready.get(otherId))
})

test(
  'docker: one that was ready and died is taken by nobody, and a crash leaves none',
  { skip: skipPool },
  async () => {
    await using pool = await openPool()
    const { testing, other, usualId } = pool
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()]
    const driver = pool.open()
    await driver.start(specOf({ id: first }), limit())
    const dead = (await spares(testing, 2)).get(usualId) ?? ''
    await testing.engine.getContainer(dead).kill()
    await sleep(500)
    await driver.start(specOf({ id: second }), limit())
    assert.equal(await text(await driver.hands(second), 'echo lives'), 'lives\n')
    const left = await spares(testing, 2)
    assert.notEqual(left.get(usualId), dead)

    // As after kill -9: the next life of the program finds what this one left.
    const next = pool.open()
    assert.deepEqual(await idsOf(next), [first, second].sort())
    const there = (await containers(testing)).map(({ Id }) => Id)
    for (const one of left.values()) assert.ok(!there.includes(one))
    assert.deepEqual(await pool.spareFiles(), [])
    await next.start(specOf({ id: third, image: other }), limit())
    await spares(testing, 2)
    await next[Symbol.asyncDispose]()
    assert.deepEqual(await containers(testing), [])
    assert.deepEqual(await pool.spareFiles(), [])
  },
)
