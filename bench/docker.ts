import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { containerName } from '@parley/sandbox/docker/container'
import { dockerDriver } from '@parley/sandbox/docker/driver'
import type { Container } from '@parley/sandbox/docker/engine'
import type { Hands, Process } from '@parley/sandbox/driver'
import { engineLacks, startEngine } from '../tests/tools/docker-engine.ts'
import { p50, p95, type Row, timed } from './measure.ts'

/* A program in a container, beside the same program as the engine alone runs it there. Empty where no engine can be started. */

const times = 100

export async function dockerRows(): Promise<Row[]> {
  if ((await engineLacks()) !== undefined) return []
  const testing = await startEngine()
  const folder = await mkdtemp(join(tmpdir(), 'pb-'))
  try {
    await using driver = dockerDriver({
      stateDir: join(folder, 'state'),
      runtimeDir: join(folder, 'run'),
      egress: {
        gate: { decide: async () => ({ allow: false, reason: 'nothing is allowed' }) },
        dial: () => Promise.reject(new Error('not dialled')),
      },
      host: testing.host,
      image: testing.image,
      log: () => undefined,
    })
    const limits = { memory: 2 ** 30, processes: 512, cpu: 2, disk: 2 ** 30 }
    const id = crypto.randomUUID()
    await driver.start({ id, image: null, env: {}, limits }, AbortSignal.timeout(60_000))
    const hands = await driver.hands(id)
    const container = testing.engine.getContainer(containerName(id))
    const floors: number[] = []
    const spawned: number[] = []
    const ran: number[] = []
    // In turns: what else this machine does just now meets all three alike.
    for (let round = 0; round < 5; round += 1) {
      floors.push(...(await timed(times / 5, () => engineExec(container))))
      spawned.push(...(await timed(times / 5, async () => succeeded((await spawnTrue(hands)).code))))
      ran.push(...(await timed(times / 5, async () => succeeded((await hands.run({ script: 'true' })).code))))
    }
    const row = (what: string, values: readonly number[]): Row => ({
      what,
      unit: 'ms',
      p50: p50(values),
      p95: p95(values),
      floor: p50(floors),
      floorIs: "the engine's own exec",
      goal: '< 1.5×',
    })
    await driver.remove(id)
    return [row('`true` as a process in a container', spawned), row('`true` as a short command in a container', ran)]
  } finally {
    await testing.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

function spawnTrue(hands: Hands): Process['ended'] {
  const one = hands.spawn({ argv: ['true'] })
  one.stdin.end()
  one.stdout.resume()
  one.stderr.resume()
  return one.ended
}

/** As any client of the engine does it: create, start, its streams to their end, and how it ended. */
async function engineExec(container: Container): Promise<void> {
  const exec = await container.exec({ AttachStdout: true, AttachStderr: true, Cmd: ['true'] })
  const stream = await exec.start({ hijack: true, stdin: false })
  stream.resume()
  await new Promise((resolve) => stream.once('close', resolve))
  succeeded((await exec.inspect()).ExitCode)
}

function succeeded(code: number | null): void {
  if (code !== 0) throw new Error(`\`true\` ended with ${code}`)
}
