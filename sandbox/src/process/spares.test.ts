import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { specOf } from '../conformance-sentence.ts'
import type { Driver } from '../driver.ts'
import { sparePrefix } from '../spares.ts'
import { processDriver } from './driver.ts'

const { limits } = specOf({})

async function opened(folder: string, asked: string[] = []) {
  return processDriver({
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
    spares: [{ image: null, most: 1, limits }],
    log: () => undefined,
  })
}

const sparesIn = async (folder: string) =>
  (await readdir(join(folder, 'state')).catch(() => [])).filter((name) => name.startsWith(sparePrefix))

/** The folder of a spare that is ready: a start can take it. */
async function spareOf(folder: string): Promise<{ name: string; inode: number }> {
  for (let tries = 0; tries < 500; tries++) {
    const [name] = await sparesIn(folder)
    if (name !== undefined) return { name, inode: (await stat(join(folder, 'state', name))).ino }
    await sleep(20)
  }
  throw new Error('no spare was made')
}

const start = async (driver: Driver, id: string, env: Record<string, string> = {}) => {
  await driver.start(specOf({ id, env }), AbortSignal.timeout(30_000))
  return driver.hands(id)
}

/** Starts it until the spare of this inode was taken: one that is still being raised is not. */
async function takenOver(driver: Driver, folder: string, id: string, inode: number): Promise<boolean> {
  for (let tries = 0; tries < 50; tries++) {
    await start(driver, id, { WHOSE: 'mine' })
    if ((await stat(join(folder, 'state', id))).ino === inode) return true
    await driver.remove(id)
    await sleep(100)
  }
  return false
}

test('a start takes over a sandbox that is ready, which is then the tenant’s in every way and is gone with him', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-spares-'))
  const asked: string[] = []
  const [first, second] = [randomUUID(), randomUUID()]
  try {
    const driver = await opened(folder, asked)
    await start(driver, first)
    const { name, inode } = await spareOf(folder)
    assert.deepEqual(
      (await driver.list()).map(({ id }) => id),
      [first],
    )
    assert.ok(await takenOver(driver, folder, second, inode), `${name} was never taken over`)
    const hands = await driver.hands(second)
    const { stdout } = await hands.run({
      script:
        'echo "$WHOSE $HOME"; echo kept >"$PARLEY_WORKSPACE/file"; curl -s -o /dev/null -w "%{http_code}" http://example.test/',
    })
    assert.match(stdout.toString(), /^mine \/home\/agent\n403$/)
    assert.equal(asked.at(-1), second)
    assert.equal((await driver.look(second)).state, 'running')
    await driver[Symbol.asyncDispose]()
    assert.deepEqual(await sparesIn(folder), [])

    await using again = await opened(folder)
    await mkdir(join(folder, 'state', `${sparePrefix}${randomUUID()}`))
    const { stdout: file } = await (await start(again, second)).run({ script: 'cat file', cwd: '/workspace' })
    assert.equal(file.toString(), 'kept\n')
    await again.remove(first)
    await again.remove(second)
    const left = (await readdir(join(folder, 'state'))).filter((one) => !one.startsWith(sparePrefix))
    assert.deepEqual(left, [])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
