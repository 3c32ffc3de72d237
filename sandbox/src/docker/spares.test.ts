import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { engineLacks, startEngine, type TestingEngine } from '../../../tests/tools/docker-engine.ts'
import { limit, specOf, text } from '../conformance-sentence.ts'
import type { Driver } from '../driver.ts'
import { dockerDriver } from './driver.ts'

const { limits, workingDir } = specOf()

const openDriver = (folder: string, { host, image }: TestingEngine, asked: string[] = []) =>
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
    spares: { most: 1, workingDir, limits },
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
    const driver = openDriver(folder, testing, asked)
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
