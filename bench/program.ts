import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { api } from '@parley/contract/api'
import { makeKey } from '@parley/server/access/key-format'
import { type Caller, caller } from '@parley/wire/call'

/** The product as it ships, in a process and a data folder of its own. */
export interface Program extends AsyncDisposable {
  url: string
  key: string
  call: Caller
  /** Of the server and everything below it, the database included, in MiB (proportional set size). */
  memory(): number
  /** Seconds of processor time that the same have taken so far. */
  cpu(): number
  /** Milliseconds from spawn to its last word. */
  readyMs: number
}

export interface ProgramOptions {
  dataDir?: string
  privateHosts: readonly string[]
  limits?: string
}

const main = resolve(import.meta.dirname, '../server/src/main.ts')

export async function openProgram({ dataDir, privateHosts, limits }: ProgramOptions): Promise<Program> {
  const dir = dataDir ?? mkdtempSync(join(tmpdir(), 'pb-'))
  const key = makeKey('prl')
  const began = performance.now()
  const child = spawn(process.execPath, [main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      PARLEY_PORT: '0',
      PARLEY_DATA_DIR: dir,
      PARLEY_OWNER_API_KEY: key,
      PARLEY_PRIVATE_HOSTS: privateHosts.join(','),
      PARLEY_LOG_LEVEL: 'warn',
      ...(limits === undefined ? {} : { PARLEY_LIMITS: limits }),
    },
  })
  const url = await ready(child)
  const readyMs = performance.now() - began
  return {
    url,
    key,
    readyMs,
    call: caller({ baseUrl: url, key }),
    memory: () => proportional(tree(child.pid ?? 0, dir)) / 1024,
    cpu: () => cpuSeconds(tree(child.pid ?? 0, dir)),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
      if (dataDir === undefined) rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function ready(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output to read')
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^Parley is ready at (\S+)/.exec(line)?.[1]
    if (url !== undefined) return url
  }
  throw new Error('the program ended before it was ready')
}

/** The process, what it started, and the database that runs in its folder. */
function tree(root: number, dir: string): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = text(`/proc/${name}/stat`)
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
  }
  const postmaster = Number(text(join(dir, 'postgres', 'postmaster.pid')).split('\n')[0])
  const found = new Set([root, postmaster])
  for (let size = 0; size !== found.size;) {
    size = found.size
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid)
  }
  return [...found]
}

const proportional = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + Number(/^Pss:\s+(\d+)/m.exec(text(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0), 0)

/** Of these processes and those they have waited for; the kernel counts hundredths of a second. */
export const cpuSeconds = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const stat = text(`/proc/${pid}/stat`)
    const times = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
    return sum + times.reduce((all, time) => all + Number(time) / 100, 0)
  }, 0)

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Settings that send every model call to the scripted server. */
export async function useScripted(program: Program, llmUrl: string): Promise<void> {
  await program.call(api.settings.update, {
    body: {
      llm_model: 'openai-compatible/scripted-1',
      llm_base_url: `${llmUrl}/v1`,
      llm_api_key: 'not-a-real-key-for-benchmarks',
      max_iterations: 100_000,
    },
  })
}

/** Starts a conversation and resolves with its id and the time to READY, in milliseconds. */
export async function start(program: Program, text: string): Promise<{ id: string; readyMs: number }> {
  const began = performance.now()
  // With a title of its own: the question for one is no part of what is measured.
  const body = { title: 'Measured', initial_message: { content: [{ type: 'text' as const, text }] } }
  for await (const task of await program.call(api.conversations.streamStart, { body })) {
    if (task.status === 'ERROR') throw new Error(task.detail ?? 'the start failed')
    if (task.app_conversation_id !== null) return { id: task.app_conversation_id, readyMs: performance.now() - began }
  }
  throw new Error('the start ended without a word')
}

/** Resolves when the conversation is at rest; rejects when it rests otherwise than finished. */
export async function finished(program: Program, id: string): Promise<void> {
  for await (const frame of await program.call(api.events.stream, { params: { id }, query: { after_seq: 0 } })) {
    const event = frame.data as { kind: string; key?: string; value?: string; reason?: unknown }
    if (event.kind !== 'ConversationStateUpdateEvent' || event.key !== 'execution_status') continue
    if (event.value === 'finished') return
    if (event.value !== 'running') throw new Error(`${event.value}: ${JSON.stringify(event.reason)}`)
  }
}
