import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { api } from '@parley/contract/api'
import { processDriver } from '@parley/sandbox/process/driver'
import autocannon from 'autocannon'
import type { ScriptedLlm } from '../tests/tools/scripted-llm.ts'
import { p50, p95, type Row, timed } from './measure.ts'
import { type Program, start } from './program.ts'

/* How long a person or a program waits for the product while an agent works, and how many may read at once. */

const row = (what: string, values: readonly number[], floor: number | null, floorIs: string, goal: string): Row => ({
  what,
  unit: 'ms',
  p50: p50(values),
  p95: values.length > 4 ? p95(values) : null,
  floor,
  floorIs,
  goal,
})

/** A sandbox from nothing to its first command, and a command in a shell that is open. */
export async function sandboxRows(bash: number): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-'))
  await using driver = processDriver({
    stateDir: join(folder, 'state'),
    runtimeDir: join(folder, 'run'),
    egress: {
      gate: { decide: async () => ({ allow: false, reason: 'nothing is allowed' }) },
      dial: () => Promise.reject(new Error('not dialled')),
    },
    log: () => undefined,
  })
  const limits = { memory: 2 ** 30, processes: 512, cpu: 2, disk: 2 ** 30 }
  const ids: string[] = []
  const opened = await timed(20, async () => {
    const id = crypto.randomUUID()
    ids.push(id)
    await driver.start({ id, image: null, env: {}, limits }, AbortSignal.timeout(20_000))
    await (await driver.hands(id)).run({ script: 'true' })
  })
  const shell = await (await driver.hands(ids[0] ?? '')).shell({ cwd: '/workspace' })
  const told = await timed(300, () => shell.run({ command: 'true', timeoutMs: 10_000 }))
  await Promise.all(ids.map((id) => driver.remove(id)))
  await rm(folder, { recursive: true, force: true })
  return [
    row('sandbox from nothing to a command in it', opened, null, '', '< 60'),
    row('`true` in an open shell of a sandbox', told, bash, 'bash', '< 5'),
  ]
}

/** From a command's first byte to a follower, and a message that is accepted while the command runs. */
export async function followRows(program: Program, llm: ScriptedLlm, append: number): Promise<Row[]> {
  const seen: number[] = []
  const accepted: number[] = []
  for (let index = 0; index < 12; index += 1) {
    // In one write, and longer than what is held back of its end, for it could be the beginning of a secret.
    const command = 'sleep 0.3; echo "$(date +%s%3N) is when this line began its way to the follower"; sleep 0.6'
    await llm.setScript({
      toolkit: { shell: [{ name: 'terminal', args: { command: '{{cmd}}' } }] },
      turns: [{ use: [{ tool: 'shell', vars: { cmd: command } }] }, { text: 'Done.' }],
    })
    const { id } = await start(program, `Wait. [[conv:f${index}]]`)
    const arrived = await firstOutput(program, id)
    const said = Number(/\d{13}/.exec(arrived.content)?.[0])
    const [taken = Number.NaN] = await timed(1, () => message(program, id, index), 0)
    if (index < 2) continue
    seen.push(arrived.at - said)
    accepted.push(taken)
  }
  return [
    row('first byte of a command, seen by a follower', seen, null, '', '< 100'),
    row('message accepted while a command runs', accepted, append, 'one commit', '< 20'),
  ]
}

async function firstOutput(program: Program, id: string): Promise<{ at: number; content: string }> {
  for await (const frame of await program.call(api.events.stream, { params: { id }, query: { after_seq: 0 } })) {
    const event = frame.data as { kind: string; content?: string }
    if (event.kind === 'ToolOutputDelta') return { at: Date.now(), content: event.content ?? '' }
  }
  throw new Error('the command printed nothing')
}

async function message(program: Program, id: string, index: number): Promise<void> {
  const body = JSON.stringify({ content: [{ type: 'text', text: `note ${index}` }], run: false })
  const headers = { authorization: `Bearer ${program.key}`, 'content-type': 'application/json' }
  const answer = await fetch(`${program.url}/api/v1/conversation/${id}/events`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(await answer.text())
  await answer.text()
}

const rawServer = `
import fastify from 'fastify'
const app = fastify()
const answer = JSON.parse(process.argv[1])
app.get('/x', () => answer)
await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(String(app.server.address().port))`

/** Reads a second of one conversation from 50 connections, beside the framework giving the same answer from memory. */
export async function readRows(program: Program, id: string): Promise<Row[]> {
  const headers = { authorization: `Bearer ${program.key}` }
  const url = `${program.url}/api/v1/app-conversations/${id}`
  const answer = await (await fetch(url, { headers })).text()
  const cwd = join(import.meta.dirname, '../wire')
  const raw = spawn(process.execPath, ['--input-type=module', '-e', rawServer, answer], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const floor = await perSecond(`http://127.0.0.1:${await portOf(raw)}/x`, {})
  raw.kill()
  const ours = await perSecond(url, headers)
  const shape = { unit: '1/s', p95: null, floorIs: 'the framework alone', goal: '≥ 0.6×' }
  return [{ what: 'reads of a conversation a second', p50: ours, floor, ...shape }]
}

async function portOf(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw new Error('no output to read')
  const [text] = (await once(child.stdout, 'data')) as [Buffer]
  return Number(text.toString())
}

async function perSecond(url: string, headers: Record<string, string>): Promise<number> {
  await autocannon({ url, headers, connections: 50, duration: 2 })
  const { requests, non2xx } = await autocannon({ url, headers, connections: 50, duration: 5 })
  if (non2xx > 0) throw new Error(`${non2xx} reads of ${url} failed`)
  return requests.average
}
