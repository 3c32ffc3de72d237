import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openScriptedLlm, type LoggedRequest, type ScriptedLlm } from '../tests/tools/scripted-llm.ts'
import { p50, p95, type Row, table } from './measure.ts'
import { cpuSeconds, finished, openProgram, start, useScripted } from './program.ts'

/*
 * `npm run bench:peers`: the same scripted job on Parley and on pi's SDK, in turns in one run. pi is installed from npm into
 * a folder of the system's temporary one, or found in the folder that is given as the argument.
 */

const peer = '@earendil-works/pi-coding-agent@0.87.1'
const rounds = 3

interface Server extends AsyncDisposable {
  /** Resolves when the conversation has done its job. */
  converse(text: string): Promise<unknown>
  /** Seconds of processor time, of everything that belongs to it. */
  cpu(): number
}

const job = (steps: number) => ({
  toolkit: {
    shell: ['terminal', 'bash'].map((name) => ({ name, args: { command: '{{cmd}}' } })),
  },
  turns: [{ repeat: steps, use: [{ tool: 'shell', vars: { cmd: 'echo step-{{i}}' } }] }, { text: 'All done.' }],
})

async function openParley(llm: ScriptedLlm, folder: string): Promise<Server> {
  const limits = join(folder, 'limits.yaml')
  writeFileSync(limits, 'sandboxes: { per_user: 400 }\nrates: { start: { requests: 100000 } }\n')
  const program = await openProgram({ privateHosts: [new URL(llm.url).host], limits })
  await useScripted(program, llm.url)
  return {
    converse: async (text) => finished(program, (await start(program, text)).id),
    cpu: () => program.cpu(),
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}

async function openPi(llm: ScriptedLlm, folder: string, installed: string): Promise<Server> {
  const home = mkdtempSync(join(folder, 'pi-'))
  const agent = join(home, '.pi/agent')
  mkdirSync(agent, { recursive: true })
  const models = [{ id: 'scripted-1', contextWindow: 2_000_000, maxTokens: 8192 }]
  const local = { baseUrl: `${llm.url}/v1`, api: 'openai-completions', apiKey: 'x', models }
  writeFileSync(join(agent, 'models.json'), JSON.stringify({ providers: { local } }))
  writeFileSync(join(agent, 'settings.json'), JSON.stringify({ defaultProvider: 'local', defaultModel: 'scripted-1' }))
  const child = spawn(process.execPath, [join(import.meta.dirname, 'pi-host.mjs'), installed], {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, PI_OFFLINE: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting = new Map<number, (answer: { result?: unknown; error?: string }) => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as { n: number; result?: unknown; error?: string }
    waiting.get(answer.n)?.(answer)
  })
  let last = 0
  const ready = new Promise((resolve) => waiting.set(0, resolve))
  const call = async (order: object): Promise<unknown> => {
    const n = ++last
    child.stdin.write(`${JSON.stringify({ n, ...order })}\n`)
    const { result, error } = await new Promise<{ result?: unknown; error?: string }>((resolve) =>
      waiting.set(n, resolve),
    )
    if (error !== undefined) throw new Error(error)
    return result
  }
  await ready
  return {
    async converse(text) {
      const cwd = mkdtempSync(join(home, 'work-'))
      await call({ verb: 'prompt', id: await call({ verb: 'create', cwd }), text })
    },
    cpu: () => cpuSeconds([child.pid ?? 0]),
    async [Symbol.asyncDispose]() {
      child.kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

const turns = async (llm: ScriptedLlm): Promise<LoggedRequest[]> =>
  (await llm.log()).requests.filter(({ kind, conv }) => kind === 'turn' && conv.startsWith('p'))

/** Medians of one kind of server, by what is measured. */
async function measured(open: () => Promise<Server>, llm: ScriptedLlm): Promise<Record<string, number>> {
  await using server = await open()
  const found: Record<string, number> = {}
  await llm.setScript(job(50))
  await server.converse('Run the steps. [[conv:warm]]')
  await llm.clear()
  await server.converse('Run the steps. [[conv:p-alone]]')
  const alone = (await turns(llm)).flatMap(({ gapMs }) => gapMs ?? [])
  found['step'] = p50(alone)
  found['step, p95'] = p95(alone)
  await llm.clear()
  const [began, cpu] = [Date.now(), server.cpu()]
  await Promise.all(Array.from({ length: 20 }, (_, index) => server.converse(`Run the steps. [[conv:p${index}]]`)))
  const many = await turns(llm)
  found['steps a second, 20 at once'] = (20 * 50) / ((Math.max(...many.map(({ done }) => done)) - began) / 1_000)
  found['processor time of a step, 20 at once'] = ((server.cpu() - cpu) * 1_000) / (20 * 50)
  await llm.setScript(job(1_000))
  await llm.clear()
  await server.converse('Run the steps. [[conv:p-long]]')
  const long = (await turns(llm)).flatMap(({ gapMs }) => gapMs ?? [])
  found['step, the last 100 of 1,000'] = p50(long.slice(-100))
  found['the last 100 over the first 100'] = p50(long.slice(-100)) / p50(long.slice(0, 100))
  const bytes = (await turns(llm)).map((one) => one.bytes)
  found['first request'] = bytes[0] ?? Number.NaN
  found['request bytes of a step'] = ((bytes.at(-1) ?? 0) - (bytes[1] ?? 0)) / (bytes.length - 2)
  return found
}

/** Our figure over pi's: what it may be at most, or at least. */
const goals: Record<string, [unit: string, goal: string]> = {
  step: ['ms', '≤ 0.6×'],
  'step, p95': ['ms', '≤ 0.6×'],
  'steps a second, 20 at once': ['1/s', '≥ 2×'],
  'processor time of a step, 20 at once': ['ms', '≤ 0.5×'],
  'step, the last 100 of 1,000': ['ms', '≤ 0.35×'],
  'the last 100 over the first 100': ['×', '≤ 1.25 itself'],
  'first request': ['B', ''],
  'request bytes of a step': ['B', '≤ 1×'],
}

const folder = mkdtempSync(join(tmpdir(), 'pb-'))
try {
  const installed = process.argv[2] ?? join(tmpdir(), 'parley-bench-peers')
  if (!existsSync(join(installed, 'node_modules', '@earendil-works'))) {
    mkdirSync(installed, { recursive: true })
    process.stderr.write(`Installing ${peer} in ${installed} …\n`)
    execFileSync('npm', ['install', '--prefix', installed, '--no-audit', '--no-fund', '--silent', peer])
  }
  await using llm = await openScriptedLlm(job(1))
  const [ours, theirs]: Record<string, number>[][] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    ours?.push(await measured(() => openParley(llm, folder), llm))
    theirs?.push(await measured(() => openPi(llm, folder, installed), llm))
    process.stderr.write(`round ${round + 1}: ${JSON.stringify([ours?.at(-1), theirs?.at(-1)])}\n`)
  }
  const median = (all: Record<string, number>[] | undefined, what: string) =>
    p50((all ?? []).flatMap((one) => one[what] ?? []))
  const rows = Object.entries(goals).map(([what, [unit, goal]]): Row => ({
    what,
    unit,
    p50: median(ours, what),
    p95: null,
    floor: median(theirs, what),
    floorIs: 'pi, SDK in one process',
    goal,
  }))
  process.stdout.write(`${table(rows)}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
