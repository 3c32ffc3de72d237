import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { api } from '@parley/contract/api'
import type { HookConfig } from '@parley/contract/hook-config'
import type { SettingsUpdate } from '@parley/contract/settings'
import { openScriptedLlm } from '../tests/tools/scripted-llm.ts'
import { p50, p95, type Row } from './measure.ts'
import { openProgram, type Program, useScripted } from './program.ts'
import { job, runSteps, type StepFigures } from './steps.ts'

/*
 * One long job with every feature of the brain at work: a history that is condensed again and again, actions that are judged
 * before and after, secrets that are looked for in all that is stored, a skill, an MCP server. Hooks start a process each and
 * are measured apart.
 */

export interface FeatureFloors {
  step: number
  http: number
  process: number
}

const secrets = 20
const lesson = 'One step after the other.'
const notes = { when: { lastUser: 'grown too long' }, text: 'Goal: the steps. Done: all so far.' }

const mcpServer = `
const answers = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 't', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'weigh', description: 'Weighs.', inputSchema: { type: 'object', properties: {} } }] }),
}
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (answers[method]) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) }) + '\\n')
})`

const hook = { matcher: '*', hooks: [{ type: 'command' as const, command: 'exit 0', timeout: 60, async: false }] }
const hooks: HookConfig = {
  pre_tool_use: [hook],
  post_tool_use: [hook],
  user_prompt_submit: [],
  session_start: [],
  session_end: [],
  stop: [],
}

type AgentSettings = NonNullable<SettingsUpdate['agent_settings']>

const judging = {
  mode: 'all_actions' as const,
  iterative_refinement: { success_threshold: 0.6, max_iterations: 3 },
}
const everything: AgentSettings = {
  condenser: { kind: 'LLMSummarizingCondenser', max_size: 240, keep_first: 2, llm: null },
  confirmation_policy: { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: true },
  security_analyzer: { kind: 'PatternSecurityAnalyzer' },
  critic: { kind: 'PassCritic', ...judging },
  agent_context: {
    skills: [{ name: 'walk', content: lesson, type: 'knowledge', trigger: ['steps'] }],
    system_message_suffix: null,
    user_message_prefix: null,
    user_message_suffix: null,
  },
  stuck_detection: true,
}

/** A critic outside that is content with everything at once, and counts how often it was asked. */
async function openCritic() {
  let asked = 0
  const server = createServer((request, response) => {
    asked += 1
    request.resume().once('end', () => response.end('{"probabilities":{"success":1}}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const api_url = `http://${host}/`
  const settings: AgentSettings['critic'] = {
    kind: 'APIBasedCritic',
    api_url,
    issue_threshold: 0.75,
    timeout: 60,
    ...judging,
  }
  return { host, settings, asked: () => asked, [Symbol.dispose]: () => void server.close() }
}

/** `steps` for the long job, `fewer` for the two with what is not ours in them: programs that hooks are, and a service outside. */
export async function featureRows(steps: number, fewer: number, floors: FeatureFloors): Promise<Row[]> {
  using critic = await openCritic()
  await using llm = await openScriptedLlm(job(1))
  await using program = await openProgram({ privateHosts: [new URL(llm.url).host, critic.host] })
  await useScripted(program, llm.url)
  await furnish(program)
  const run = async (howMany: number, agent_settings: AgentSettings) => {
    await program.call(api.settings.update, { body: { agent_settings } })
    const figures = await runSteps(program, llm, howMany, 1, { side: [notes] })
    const times = timesOf(figures)
    const prompt = await llm.body(figures.requests.at(-1)?.n ?? 0)
    const missing = ['"weigh"', lesson].filter((word) => !prompt.includes(word))
    if (missing.length > 0 || times.condensing.length < Math.floor(howMany / 120))
      throw new Error(`not everything was at work: ${times.condensing.length} condensations, without ${missing.join()}`)
    return times
  }
  await run(150, everything) // what a first job compiles and loads
  const here = await run(steps, everything)
  const outside = await run(fewer, { ...everything, critic: critic.settings })
  if (critic.asked() < fewer) throw new Error(`the critic outside was asked ${critic.asked()} times`)
  const hooked = await run(fewer, { ...everything, hook_config: hooks })
  const all = (floor: number, floorIs: string, goal: string) => ({ floor, floorIs, goal })
  const step = all(floors.step, '2 commits + bash + HTTP', '≤ 4, flat')
  const judged = all(floors.step + floors.http, '2 commits + bash + 2 HTTP', 'flat')
  const spawned = all(floors.step + 2 * floors.process, `${step.floorIs} + 2 processes`, 'flat')
  const none = { floor: null, floorIs: '', goal: '' }
  return [
    ...(steps < 4_925 ? [50, steps - 25] : [50, 1_000, 2_500, 4_900]).map((at) =>
      row(`everything on: a step, around step ${at}`, here.around(at), step),
    ),
    row('everything on: a step with a condensation, the first five', here.condensing.slice(0, 5), none),
    row('everything on: a step with a condensation, the last five', here.condensing.slice(-5), none),
    ...[50, fewer - 25].map((at) =>
      row(`everything and a critic outside: around step ${at}`, outside.around(at), judged),
    ),
    ...[50, fewer - 25].map((at) => row(`everything and two hooks: around step ${at}`, hooked.around(at), spawned)),
  ]
}

const row = (what: string, values: readonly number[], of: Pick<Row, 'floor' | 'floorIs' | 'goal'>): Row => {
  process.stderr.write(`${what}: ${p50(values).toFixed(2)} ms\n`)
  return { what, unit: 'ms', p50: p50(values), p95: values.length > 4 ? p95(values) : null, ...of }
}

async function furnish({ call }: Program): Promise<void> {
  const scales = { name: 'scales', command: 'node', args: ['-e', mcpServer], env: {} }
  const mcp_config = { sse_servers: [], shttp_servers: [], stdio_servers: [scales] }
  await call(api.settings.update, { body: { mcp_config } })
  for (let n = 0; n < secrets; n += 1)
    await call(api.secrets.create, { body: { name: `SECRET_${n}`, value: `value-that-is-secret-${n}` } })
}

/** Our own time between two answers of the model; apart, what lies around a condensation without the writing of its notes. */
function timesOf({ requests }: StepFigures) {
  const turns: { ms: number; condensed: boolean }[] = []
  for (const [at, { kind, gapMs }] of requests.entries()) {
    if (kind !== 'turn') continue
    const before = requests[at - 1]
    const notesMs = before?.kind === 'side' ? before.done - before.recvStart : 0
    turns.push({ ms: (gapMs ?? 0) - notesMs, condensed: before?.kind === 'side' })
  }
  const ms = (some: typeof turns) => some.map((one) => one.ms)
  return {
    around: (step: number) => ms(turns.slice(Math.max(2, step - 25), step + 25).filter((one) => !one.condensed)),
    condensing: ms(turns.filter((one) => one.condensed)),
  }
}
