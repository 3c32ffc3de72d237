import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, type ForkServer, forkServer } from './fork-server.ts'

const env = { PATH: '/usr/bin:/bin' }
const script = (text: string, ...args: string[]) => ({ program: '/bin/sh', args: ['-c', text, 'sh', ...args], env })

let folder: string
let forks: ForkServer

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-forks-'))
  forks = forkServer(join(folder, 'forks.sock'))
  await forks.ready()
})

after(async () => {
  await forks.close()
  await rm(folder, { recursive: true })
})

async function output({ stdout, ended }: Child): Promise<string> {
  let text = ''
  stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  await Promise.all([ended, new Promise((resolve) => stdout.once('close', resolve))])
  return text
}

test('a hundred programs at once each have their own streams, and what was written before they ran', async () => {
  const texts = Array.from({ length: 100 }, (_, index) => `this is ${index}\n`)
  const answers = texts.map((text) => {
    const child = forks.start(script('cat; echo "$1"', text.trim()))
    child.stdin.end(text)
    return output(child)
  })
  assert.deepEqual(
    await Promise.all(answers),
    texts.map((text) => text + text),
  )
})

test('how a program ends is told: its code, the signal, and why it could not be started', async () => {
  assert.deepEqual(await forks.start(script('exit 7')).ended, { code: 7, signal: null })
  const slow = forks.start(script('exec sleep 60'))
  slow.kill('SIGKILL') // before it is known that it runs: it is told in turn
  assert.deepEqual(await slow.ended, { code: null, signal: 'SIGKILL' })
  const none = forks.start({ program: '/no/such/program', args: [], env })
  assert.match((await none.ended).error ?? '', /ENOENT/)
  assert.equal(none.pid, undefined)
})

test('further descriptors are written and heard', async () => {
  const heard: string[] = []
  const talking = script('cat <&3 >&4; echo done')
  const child = forks.start({ ...talking, pipes: 2, onText: (fd, text) => heard.push(`${fd}: ${text}`) })
  child.write(3, 'said')
  assert.equal(await output(child), 'done\n')
  assert.deepEqual(heard, ['4: said'])
})

test('when the process ends all it started counts as ended, and the next programs have a new one', async () => {
  const child = forks.start(script('exec cat'))
  await child.started
  const pid = forks.pid()
  assert.ok(pid !== undefined)
  process.kill(pid, 'SIGKILL')
  assert.deepEqual(await child.ended, { code: null, signal: 'SIGKILL' })
  assert.throws(() => forks.start(script('true')), { name: 'SandboxGone' })
  await Promise.all([forks.ready(), forks.ready()])
  assert.notEqual(forks.pid(), pid)
  assert.deepEqual(await forks.start(script('exit 3')).ended, { code: 3, signal: null })
})

test('what was closed starts nothing, and no process again', async () => {
  const other = forkServer(join(folder, 'closed.sock'))
  await other.ready()
  await other.close()
  await assert.rejects(other.run(['/bin/true']), { name: 'SandboxGone' })
  await assert.rejects(other.ready(), { name: 'SandboxGone' })
  assert.deepEqual(await readdir(folder), ['forks.sock'], 'its own socket is left')
})

test('what is asked for while it closes is refused, and it closes', async () => {
  const other = forkServer(join(folder, 'closing.sock'))
  await other.ready()
  const closing = other.close()
  assert.throws(() => other.start(script('true')), { name: 'SandboxGone' })
  await closing
})

test('it ends with whoever it starts programs for', async () => {
  const program = `
    import { forkServer } from ${JSON.stringify(new URL('./fork-server.ts', import.meta.url).href)}
    const forks = forkServer(${JSON.stringify(join(folder, 'other.sock'))})
    await forks.ready()
    process.stdout.write(String(forks.pid()))
    process.kill(process.pid, 'SIGKILL')`
  const child = forks.start({
    program: process.execPath,
    args: ['--input-type=module', '-e', program],
    env: { ...env, HOME: folder },
  })
  const pid = await output(child)
  const state = () => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  for (let tries = 0; (await state()).includes('other.sock'); tries += 1) {
    assert.ok(tries < 500, `process ${pid} runs on`)
    await sleep(10)
  }
})
