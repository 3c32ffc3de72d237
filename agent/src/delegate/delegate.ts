import type { Observation } from '@parley/contract/events'
import { z } from 'zod'
import { Interrupted } from '../loop/stop.ts'
import { cutMiddle, observed } from '../tools/observation.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
import type { ChildReport, Children } from './children.ts'
import { agentKinds } from './kinds.ts'

/*
 * Work for sub-agents. Each has a conversation of its own; the call ends when all of them rest, and what they say last is its
 * result. A call that outlives its worker is taken up again by the next one.
 */

const kind = 'DelegateObservation'
const mostTasks = 5
const textLimit = 40_000
const titleLength = 80

const inputOf = (agents: readonly string[]) =>
  z.object({
    tasks: z
      .array(
        z.object({
          task: z.string().min(1).max(50_000).describe('All it must know, and what to report.'),
          title: z.string().max(200).optional(),
          agent: z
            .enum([...Object.keys(agentKinds), ...agents])
            .optional()
            .describe('explorer: reads only.'),
          id: z.string().max(64).optional().describe('Of a sub-agent: it goes on with this.'),
        }),
      )
      .min(1)
      .max(mostTasks),
  })
type Input = z.infer<ReturnType<typeof inputOf>>

/** `agents`: names of definitions beside the built-in kinds. */
export function delegate(children: Children, agents: readonly string[] = []): Tool<ReturnType<typeof inputOf>> {
  return {
    name: 'delegate',
    aliases: ['DelegateTool', 'TaskTool', 'task', 'sub_agent', 'spawn_agent'],
    description:
      'Gives independent parts of the work to sub-agents, side by side, in this workspace. They see nothing of this conversation; you get their last words.',
    input: inputOf(agents),
    actionKind: 'DelegateAction',
    observationKind: kind,
    readOnly: false,
    handless: true,
    resumes: true,
    // One at a time: the tasks of one call share what is left of the budget.
    resources: () => ['delegate'],
    risk: () => 'LOW',
    repair,
    run: (call, context) => work(children, call, context),
  }
}

async function work(
  children: Children,
  { tasks }: Input,
  { call, signal, onOutput }: ToolContext,
): Promise<Observation> {
  const left = call.budgetLeft()
  const budget = left === null ? null : left / tasks.length
  const titles = tasks.map(titleOf)
  const reports = await Promise.all(
    tasks.map(async ({ task, agent = 'general', id: continues = null }, at) => {
      const title = titles[at] ?? ''
      const waits = (id: string) =>
        call.notice('sub_agent_waits', `“${title}” (conversation ${id}) waits for a confirmation.`)
      const report = await attempt(
        children.work({ key: `${call.id}/${at}`, title, prompt: task, agent, budget, continues }, signal, waits),
      )
      if (typeof report !== 'string') call.charge(accountOf(report))
      onOutput(`${title}: ${typeof report === 'string' ? 'failed' : report.status}\n`)
      return report
    }),
  )
  // Handed back: the sub-agents go on, and whoever takes the conversation up asks for them again.
  if (signal.aborted && !(signal.reason instanceof Interrupted)) throw signal.reason
  return told(titles, reports)
}

const attempt = (report: Promise<ChildReport>): Promise<ChildReport | string> =>
  report.catch((error: unknown) => (error instanceof Error ? error.message : String(error)))

const accountOf = ({ id, model, usage, cost }: ChildReport) => ({ usageId: `delegate:${id}`, id, model, usage, cost })

function told(titles: readonly string[], reports: readonly (ChildReport | string)[]): Observation {
  const limit = Math.floor(textLimit / reports.length)
  const texts = reports.map((report, at) => {
    const title = titles[at] ?? ''
    if (typeof report === 'string') return `## ${title} (not started: ${report})`
    const why = report.reason === null ? '' : `: ${report.reason}`
    const heading = `## ${title} (${report.status}${why})\nid: ${report.id}`
    return `${heading}\n${cutMiddle(report.response ?? 'It said nothing.', limit)}`
  })
  const facts = reports.map((report, at) => {
    const title = titles[at] ?? ''
    if (typeof report === 'string') return { title, conversation_id: null, status: 'error', cost: null }
    return { title, conversation_id: report.id, status: report.status, cost: report.cost }
  })
  const isError = reports.every((report) => typeof report === 'string')
  return { ...observed(kind, texts.join('\n\n'), { command: 'delegate', sub_agents: facts }), is_error: isError }
}

function titleOf({ title, task }: Input['tasks'][number]): string {
  const line = (title ?? task).trim().split('\n')[0] ?? ''
  return line.length > titleLength ? `${line.slice(0, titleLength - 1)}…` : line
}

/** Other makers' ways to say it: one task with `prompt`, or `tasks` as an object of names and texts. */
function repair(given: Record<string, unknown>): Record<string, unknown> {
  const { tasks, prompt, task, description, subagent_type, agent, resume } = given
  const text = prompt ?? task
  if (tasks === undefined && typeof text === 'string') {
    const explores = /explore|read|search|research/i.test(String(subagent_type ?? agent ?? ''))
    const title = typeof description === 'string' ? { title: description } : {}
    const id = typeof resume === 'string' && resume !== '' ? { id: resume } : {}
    return { tasks: [{ task: text, ...title, ...id, ...(explores ? { agent: 'explorer' } : {}) }] }
  }
  if (tasks === null || typeof tasks !== 'object' || Array.isArray(tasks)) return given
  return { tasks: Object.entries(tasks).map(([title, one]) => ({ title, task: String(one) })) }
}
