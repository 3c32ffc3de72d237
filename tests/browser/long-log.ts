import { randomUUID } from 'node:crypto'
import { type Parley, parley } from '@parley/client/client'
import { text } from '../tools/house.ts'
import type { Program } from '../tools/program.ts'

/* A conversation as long as a week of work, reported the way an agent server outside Parley reports its own. */

const source = { agent: 'agent', user: 'user', environment: 'environment' } as const
const lines = (n: number) => Array.from({ length: 12 }, (_, at) => `\u001b[32mok\u001b[0m ${n}.${at} a line of output`)
const answer = (n: number) =>
  text(
    `### Step ${n}\n\nI looked at \`src/part-${n}.ts\`:\n\n- it is **fine**\n- it has a [test](https://example.com/${n})`,
  )

const usage = {
  prompt_tokens: 900,
  completion_tokens: 40,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
}
const costs = {
  usage_id: 'agent',
  model: 'scripted',
  usage,
  cost: 0.001,
  latency_ms: 12,
  first_token_ms: 3,
  attempts: 1,
}

/** Four events of one step of the agent; every tenth begins with a question. */
function step(n: number): object[] {
  const isAsked = n % 10 === 0
  const llm_message = isAsked
    ? { role: 'user', content: text(`Question ${n}`) }
    : { role: 'assistant', content: answer(n) }
  const llm_response_id = `r${n}`
  return [
    { id: randomUUID(), source: isAsked ? source.user : source.agent, kind: 'MessageEvent', llm_message },
    ...call(n, llm_response_id),
    { id: randomUUID(), source: source.agent, kind: 'LLMCallEvent', response_id: llm_response_id, ...costs },
  ]
}

function call(n: number, llm_response_id: string): object[] {
  const [id, tool_call_id, command] = [randomUUID(), randomUUID(), `npm test -- part-${n}`]
  const named = { tool_name: 'terminal', tool_call_id }
  const action = { kind: 'TerminalAction', command }
  const tool_call = { id: tool_call_id, name: 'terminal', arguments: JSON.stringify({ command }) }
  const asked = { thought: [], action, tool_call, llm_response_id, security_risk: 'LOW' }
  const content = text(lines(n).join('\n'))
  const exit_code = n % 7 === 0 ? 1 : 0
  const observation = { kind: 'TerminalObservation', command, content, is_error: false, exit_code }
  return [
    { id, source: source.agent, kind: 'ActionEvent', ...named, ...asked },
    { id: randomUUID(), source: source.environment, kind: 'ObservationEvent', ...named, action_id: id, observation },
  ]
}

export interface LongLog {
  id: string
  /** Adds so many steps of four events each at the end. */
  grow(steps: number): Promise<void>
}

/** A conversation whose log has at least `events` events. */
export async function openLongLog(program: Program, events: number): Promise<LongLog> {
  const { session_api_key } = await program.client.sandboxes.create()
  const reporter: Parley = parley({ baseUrl: program.url, key: session_api_key ?? '' })
  const id = randomUUID()
  const agent = { kind: 'Agent' as const, llm: { model: 'openai/gpt-5' } }
  await reporter.webhooks.conversation({
    body: { id, title: 'A week of work', workspace: { working_dir: '/workspace/project' }, agent },
  })
  let n = 0
  const grow = async (steps: number) => {
    for (let left = steps; left > 0; left -= 500) {
      const body = Array.from({ length: Math.min(left, 500) }, () => step((n += 1))).flat()
      await reporter.webhooks.events({ params: { conversation_id: id }, body: body as never })
    }
  }
  await grow(Math.ceil(events / 4))
  return { id, grow }
}
