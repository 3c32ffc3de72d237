import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Observation } from '@parley/contract/events'
import type { Driver, Hands } from '@parley/sandbox/driver'
import { processDriver } from '@parley/sandbox/process/driver'
import { systemClock as clock } from '@parley/store/clock'
import { testCall } from '../testing.ts'
import { keystrokes } from './keys.ts'
import { terminal } from './terminal.ts'
import type { ToolContext } from './tool.ts'

let folder: string
let driver: Driver
let hands: Hands

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'term-'))
  const gate = { decide: () => Promise.resolve({ allow: false as const, reason: 'no network in this test' }) }
  const dial = () => Promise.reject(new Error('no network in this test'))
  const log = () => {}
  driver = processDriver({
    stateDir: join(folder, 's'),
    runtimeDir: join(folder, 'r'),
    egress: { gate, dial },
    log: log as never,
  })
  const limits = { memory: 512 * 2 ** 20, processes: 200, cpu: 1, disk: 2 ** 30 }
  const id = clock.id()
  await driver.start({ id, image: null, env: {}, limits }, AbortSignal.timeout(30_000))
  hands = await driver.hands(id)
})
after(async () => {
  await driver[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** The same hands with less patience for silence. */
const impatient = (): Hands => ({
  ...hands,
  shell: async (options) => {
    const shell = await hands.shell(options)
    const quick = <T extends { quietMs?: number | null }>(wait: T): T => ({
      ...wait,
      quietMs: wait.quietMs ? 150 : null,
    })
    return {
      run: (command) => shell.run(quick(command)),
      wait: (wait) => shell.wait(quick(wait)),
      input: (text) => shell.input(text),
      close: () => shell.close(),
      get busy() {
        return shell.busy
      },
      get awaited() {
        return shell.awaited
      },
    }
  },
})

function desk(secrets: Record<string, string> = {}, own: Hands = hands) {
  const live: string[] = []
  const control = new AbortController()
  const context: ToolContext = {
    hands: own,
    workingDir: '/workspace',
    signal: control.signal,
    onOutput: (text) => live.push(text),
    secretsFor: (text) =>
      Promise.resolve(Object.fromEntries(Object.entries(secrets).filter(([name]) => text.includes(`$${name}`)))),
    memory: new Map(),
    call: testCall,
  }
  const call = (args: Record<string, unknown>) => terminal.run(terminal.input.parse(args), context)
  return { live, control, call, [Symbol.asyncDispose]: async () => terminal.close?.(context.memory) }
}
const said = (observation: Observation) =>
  observation.content.map((part) => (part.type === 'text' ? part.text : '')).join('')

test('directory and variables stay from command to command, several lines are one call, and the exit code is told', async () => {
  await using terminalDesk = desk()
  const { call } = terminalDesk
  assert.equal(said(await call({ command: 'mkdir -p sub && cd sub\nX=7' })), '[exit code 0 in /workspace/sub]')
  const seen = await call({ command: 'echo "$X in $(pwd)"; false' })
  assert.equal(said(seen), '7 in /workspace/sub\n[exit code 1 in /workspace/sub]')
  assert.deepEqual(
    [seen['exit_code'], seen['command'], seen['timeout'], seen.is_error],
    [1, 'echo "$X in $(pwd)"; false', false, false],
  )
})

test('output is seen while the command runs', async () => {
  await using terminalDesk = desk()
  await terminalDesk.call({ command: 'echo first; sleep 0.2; echo second' })
  assert.equal(terminalDesk.live.join(''), 'first\nsecond\n')
  assert.ok(terminalDesk.live.length >= 2)
})

test('long output is cut in the middle, and all of it is where the result says', async () => {
  await using terminalDesk = desk()
  const seen = await terminalDesk.call({ command: 'seq 1 20000' })
  const text = said(seen)
  assert.ok(text.length < 31_000 && text.startsWith('1\n2\n') && text.includes('\n20000\n'))
  const [, from, to, path] = /bytes (\d+) to (\d+) of (\S+) /.exec(text) ?? []
  const all = await terminalDesk.call({
    command: `tail -c +${from} ${path} | head -c ${Number(to) - Number(from) + 1} | md5sum; seq 1 20000 | md5sum`,
  })
  const [one, two] = said(all).split('\n')
  assert.equal(one, two)
})

test('a command past its time runs on: it can be waited for to its end', async () => {
  await using terminalDesk = desk()
  const { call } = terminalDesk
  const seen = await call({
    command: 'echo begun; until [ -e go ]; do echo on; sleep 0.02; done; echo end',
    timeout: 0.2,
  })
  assert.match(said(seen), /^begun\non\n[^]*\[still running after 0.2 s; wait/)
  assert.deepEqual([seen['timeout'], seen['exit_code']], [true, null])
  await hands.run({ script: 'touch /workspace/go' })
  assert.match(said(await call({ command: '' })), /end\n\[exit code 0\]$/)
})

test('how a command ended that was left running is told, also when nobody waited for it meanwhile', async () => {
  await using terminalDesk = desk()
  const { call } = terminalDesk
  const command = 'echo begun; until [ -e go-on ]; do sleep 0.02; done; echo end; touch ended; (exit 7)'
  await call({ command, timeout: 0.2 })
  await hands.run({ script: 'cd /workspace; touch go-on; until [ -e ended ]; do sleep 0.01; done; sleep 0.1' })
  assert.match(said(await call({ command: '' })), /^end\n\[exit code 7\]$/)
  assert.match(said(await call({ command: '' })), /No command is running/)
})

test('a job has the folder and the variables of the shell, is read on where the last read ended, typed into and stopped', async () => {
  await using terminalDesk = desk({ TOKEN: 's3cret' })
  const { call } = terminalDesk
  await call({ command: `mkdir -p jobs && cd jobs && export V="it's \\\\ \\$x"` })
  const command = 'echo "$PWD $V $TOKEN"; read name; echo "hello $name"; sleep 60'
  const begun = await call({ command, background: true })
  const job = String(begun['job'])
  assert.deepEqual([begun.is_error, begun['exit_code']], [false, null])
  assert.match(said(await call({ command: 'echo free' })), /^free/, 'the shell is free meanwhile')
  const first = await call({ command: '', job })
  assert.equal(said(first).split('\n')[0], "/workspace/jobs it's \\ $x s3cret")
  assert.match(
    said(await call({ command: 'Ada', is_input: true, job })),
    /^hello Ada\n\[job \d+ is running; bytes \d+ to \d+\]$/,
  )
  const again = await call({ command: '', job, from: 0 })
  assert.match(said(again), /^\/workspace\/jobs/, 'from an offset as often as one likes')
  assert.match(
    said(await call({ command: '', job: 'all' })),
    new RegExp(`^job ${job} is running, \\d+ bytes of output: echo`, 'm'),
  )
  const stopped = await call({ command: 'C-c', is_input: true, job })
  assert.match(said(stopped), /ended with exit code 130/)
  assert.ok((await call({ command: 'x', is_input: true, job })).is_error)
  assert.ok((await call({ command: '', job: 'none' })).is_error)
})

test('a job starts while the shell is busy, and its long output is read piece by piece by anybody', async () => {
  await using busy = desk({}, impatient())
  await busy.call({ command: 'cd /tmp' })
  await busy.call({ command: 'sleep 60' })
  const begun = await busy.call({ command: 'pwd; seq 1 20000; exit 4', background: true })
  const job = String(begun['job'])
  await hands.run({ script: `until [ -e /tmp/.parley/jobs/${job}/code ]; do sleep 0.02; done` })
  await using other = desk()
  let text = ''
  for (let from = 0, size = 1; from < size;) {
    const part = await other.call({ command: '', job, from })
    const [, to, all] = /bytes \d+ to (\d+)(?: of (\d+))?/.exec(said(part)) ?? []
    text += said(part).slice(0, said(part).lastIndexOf('\n'))
    from = Number(to)
    size = Number(all ?? to)
    assert.equal(part['exit_code'], 4)
  }
  assert.ok(text.startsWith('/tmp\n1\n2\n') && text.endsWith('20000'))
})

test('an interrupt ends the command with what it has printed', async () => {
  await using terminalDesk = desk()
  const pending = terminalDesk.call({ command: 'echo begun; sleep 60' })
  while (!terminalDesk.live.join('').includes('begun')) await clock.sleep(5)
  terminalDesk.control.abort(new Error('stop'))
  assert.match(said(await pending), /^begun\n[^]*\[interrupted\]$/)
})

test('a silent command goes on: it can be typed to, waited for and stopped, and nothing else runs meanwhile', async () => {
  await using terminalDesk = desk({}, impatient())
  const { call } = terminalDesk
  const asks = await call({ command: 'read name; echo "hello $name"; sleep 60' })
  assert.match(said(asks), /still running/)
  assert.equal(asks['exit_code'], null)
  assert.match(said(await call({ command: 'ls' })), /Not executed/)
  assert.match(said(await call({ command: 'Ada', is_input: true })), /^hello Ada\n\[still running/)
  assert.match(said(await call({ command: '' })), /still running/)
  assert.match(said(await call({ command: 'C-c', is_input: true })), /interrupted/)
  assert.match(said(await call({ command: 'echo free' })), /^free/)
})

test('a reset gives a new shell', async () => {
  await using terminalDesk = desk()
  await terminalDesk.call({ command: 'cd /tmp; Y=1' })
  assert.equal(
    said(await terminalDesk.call({ command: 'echo "$PWD[$Y]"', reset: true })),
    '/workspace[]\n[exit code 0]',
  )
})

test('a secret is in the environment of the command that names it, and of no other', async () => {
  await using terminalDesk = desk({ TOKEN: 's3cret' })
  assert.match(said(await terminalDesk.call({ command: 'echo "got $TOKEN"' })), /got s3cret/)
  assert.doesNotMatch(said(await terminalDesk.call({ command: 'env' })), /s3cret/)
})

test('colours are left out, and of a progress bar only its end is kept', async () => {
  await using terminalDesk = desk()
  const seen = await terminalDesk.call({ command: String.raw`printf '\033[31mred\033[0m\n10%%\r50%%\r100%%\n'` })
  assert.equal(said(seen), 'red\n100%\n[exit code 0]')
})

test('the end of the shell itself is told, and the next command has a new one', async () => {
  await using terminalDesk = desk()
  assert.match(said(await terminalDesk.call({ command: 'exit 3' })), /the shell ended/)
  assert.match(said(await terminalDesk.call({ command: 'echo back' })), /^back/)
})

test('names of keys are the bytes a terminal sends, a line gets its end, and C-c is an interrupt', () => {
  assert.deepEqual(['C-d', 'ENTER', 'UP', 'yes'].map(keystrokes), ['\u0004', '\n', '\u001b[A', 'yes\n'])
  assert.equal(typeof keystrokes('C-c'), 'symbol')
})
