import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'

const launcher = new URL('launch.mjs', import.meta.url).href
const folder = await mkdtemp(join(tmpdir(), 'parley-launch-'))
after(() => rm(folder, { recursive: true, force: true }))

/** Runs a program under the launcher; the program adds a line to `lives` at each start. */
async function launched(program: string, againAfterMs: number, signal?: NodeJS.Signals) {
  const lives = join(folder, `${crypto.randomUUID()}.txt`)
  const script = join(folder, `${crypto.randomUUID()}.mjs`)
  const begin = `import { appendFileSync, readFileSync } from 'node:fs'
    appendFileSync(${JSON.stringify(lives)}, 'life\\n')
    const life = readFileSync(${JSON.stringify(lives)}, 'utf8').trim().split('\\n').length\n`
  await writeFile(script, begin + program)
  const code = `import { launch } from ${JSON.stringify(launcher)}
    launch(process.execPath, ${JSON.stringify(script)}, [], ${againAfterMs})`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'pipe'] })
  const said = text(child.stderr)
  if (signal !== undefined) child.stdout.once('data', () => child.kill(signal))
  else child.stdout.resume()
  const [exit] = (await once(child, 'exit')) as [number | null]
  return { exit, said: await said, lives: (await readFile(lives, 'utf8')).split('\n').length - 1 }
}

test('a program that had worked and ends badly is started again, one that ends well is not', async () => {
  const { exit, said, lives } = await launched('setTimeout(() => process.exit(life === 3 ? 0 : 7), 250)', 200)
  assert.deepEqual([exit, lives], [0, 3])
  assert.equal(said.match(/ended with 7 and is started again/g)?.length, 2)
})

test('a program that cannot start ends us with its own code', async () => {
  const { exit, said, lives } = await launched('process.exit(2)', 30_000)
  assert.deepEqual([exit, said, lives], [2, '', 1])
})

test('a program that was asked to stop is not started again, however it ends', async () => {
  const program = `process.on('SIGTERM', () => process.exit(9)); console.log('up'); setInterval(() => {}, 1000)`
  const { exit, lives } = await launched(program, 0, 'SIGTERM')
  assert.deepEqual([exit, lives], [9, 1])
})
