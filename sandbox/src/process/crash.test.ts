import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { mkdtemp, open, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { limit, specOf } from '../conformance-sentence.ts'
import { driverIn, type More } from './testing.fixture.ts'

interface Owned {
  /** Number of a descriptor that it is given as its 40. */
  inherited: number
  /** Programs in the sandbox are known by how long they sleep. */
  seconds: number
  more: More
}

/** Another program that owns one sandbox with work under way in it, and says what a program inside sees of descriptor 40. */
function startOwner(folder: string, id: string, { inherited, seconds, more }: Owned) {
  const program = `
    import { processDriver } from ${JSON.stringify(new URL('./driver.ts', import.meta.url).href)}
    const [folder, spec, more] = process.argv.slice(1).map((text) => JSON.parse(text))
    const driver = processDriver({
      stateDir: folder + '/state', runtimeDir: folder + '/run', log: () => undefined, ...more,
      egress: { gate: { decide: async () => ({ allow: false, reason: 'no' }) }, dial: () => Promise.reject(new Error('no')) },
    })
    await driver.start(spec, AbortSignal.timeout(30000))
    const hands = await driver.hands(spec.id)
    const shell = await hands.shell({ cwd: hands.layout.workspace })
    await shell.run({ command: 'echo kept >file; setsid sleep ${seconds} & sleep ${seconds}', quietMs: 100 })
    hands.spawn({ argv: ['sh', '-c', 'env -i setsid sleep ${seconds} & sleep ${seconds}'] })
    const seen = await hands.run({ script: 'readlink /proc/$$/fd/40 || echo nothing' })
    process.stdout.write(String(seen.stdout))
    setInterval(() => undefined, 1000)`
  const args = [
    '--input-type=module',
    '-e',
    program,
    JSON.stringify(folder),
    JSON.stringify(specOf({ id })),
    JSON.stringify(more),
  ]
  return spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit', ...Array<'ignore'>(37).fill('ignore'), inherited],
  })
}

/** Processes of the host whose memory of files, arguments or variables names this. */
async function processesWith(part: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(
    pids.map(async (pid) => {
      const text = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
      return (
        (await text('cmdline')).includes(part) ||
        (await text('mountinfo')).includes(part) ||
        (await text('environ')).includes(part)
      )
    }),
  )
  return pids.filter((pid, index) => lines[index] && Number(pid) !== process.pid)
}

const kinds: [string, More][] = [
  ['', {}],
  [', without walls, too', { unwalled: [] }],
]
for (const [kind, more] of kinds)
  test(`after kill -9 of the program nothing of its sandboxes runs, and the next one goes on with their files${kind}`, () =>
    goesOnAfterKill(more))

async function goesOnAfterKill(more: More): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-crash-'))
  await writeFile(join(folder, 'secret'), 'of the host')
  const secret = await open(join(folder, 'secret'))
  const id = randomUUID()
  const seconds = randomInt(10_000_000, 100_000_000)
  const owner = startOwner(folder, id, { inherited: secret.fd, seconds, more })
  await secret.close()
  const ended = new Promise((resolve) => owner.once('exit', resolve))
  const said = await new Promise<string>((resolve) => {
    owner.stdout?.once('data', (text) => resolve(String(text).trim()))
    owner.once('exit', () => resolve('ended too early'))
  })
  try {
    assert.ok(['nothing', '/dev/null'].includes(said), `a descriptor that the program was given is ${said} inside`)
    assert.notDeepEqual(await processesWith(id), [])
    owner.kill('SIGKILL')
    await ended
    while ((await processesWith(id)).length > 0) await sleep(20)
    const driver = driverIn(folder, more)
    assert.deepEqual(
      (await driver.list()).map(({ id, state }) => [id, state]),
      [[id, 'stopped']],
    )
    await driver.start(specOf({ id }), limit())
    const hands = await driver.hands(id)
    assert.equal(String(await hands.files.read(`${hands.layout.workspace}/file`)), 'kept\n')
    assert.deepEqual(await processesWith(`sleep\0${seconds}`), [])
    await driver.remove(id)
    await driver[Symbol.asyncDispose]()
  } finally {
    owner.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
}

test('a start that is cancelled at any moment leaves nothing running', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-crash-'))
  const driver = driverIn(folder)
  try {
    await driver.list()
    for (let at = 0; at < 40; at++) {
      const spec = specOf()
      await driver.start(spec, AbortSignal.timeout(at)).catch(() => undefined)
      await driver.remove(spec.id)
    }
    const deadline = performance.now() + 5_000
    const left = () => processesWith(`${basename(folder)}/state`)
    while ((await left()).length > 0 && performance.now() < deadline) await sleep(50)
    assert.deepEqual(await left(), [])
  } finally {
    await driver[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }
})
