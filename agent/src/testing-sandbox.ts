import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hands } from '@parley/sandbox/driver'
import { processDriver } from '@parley/sandbox/process/driver'
import { systemClock as clock } from '@parley/store/clock'
import { testCall } from './testing.ts'
import type { ToolContext } from './tools/tool.ts'

/** A sandbox of this machine for a test, without any network. It and its files go when the test ends. */
export interface TestSandbox extends AsyncDisposable {
  hands: Hands
  /** Writes files below `/workspace`. */
  put(files: Record<string, string>): Promise<void>
  /** What a tool is given, with a memory of its own. */
  desk(secrets?: Record<string, string>): ToolContext
}

export async function openTestSandbox(): Promise<TestSandbox> {
  const folder = await mkdtemp(join(tmpdir(), 'ps-'))
  const driver = processDriver({
    stateDir: join(folder, 's'),
    runtimeDir: join(folder, 'r'),
    egress: {
      gate: { decide: () => Promise.resolve({ allow: false as const, reason: 'no network in this test' }) },
      dial: () => Promise.reject(new Error('no network in this test')),
    },
    log: () => {},
  })
  const id = clock.id()
  const limits = { memory: 512 * 2 ** 20, processes: 200, cpu: 1, disk: 2 ** 30 }
  await driver.start({ id, image: null, env: {}, limits }, AbortSignal.timeout(30_000))
  const hands = await driver.hands(id)
  return {
    hands,
    async put(files) {
      for (const [path, text] of Object.entries(files)) await hands.files.write(`/workspace/${path}`, Buffer.from(text))
    },
    desk: (secrets = {}) => ({
      hands,
      workingDir: '/workspace',
      signal: AbortSignal.timeout(30_000),
      onOutput: () => {},
      secretsFor: async (text) =>
        Object.fromEntries(
          Object.entries(secrets).filter(([name]) => text.includes(`$${name}`) || text.includes(`\${${name}}`)),
        ),
      memory: new Map(),
      call: testCall,
    }),
    async [Symbol.asyncDispose]() {
      await driver.remove(id)
      await driver[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
