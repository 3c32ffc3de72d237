import type { LogEvent } from '@parley/contract/events'
import type { Clock } from '@parley/store/clock'
import type { Message, Model, Part, ToolDefinition } from '../model/model.ts'
import { ask } from './ask.ts'
import type { NewOf } from './events.ts'
import { expectedUsage } from './limits.ts'
import { defaultPolicy } from './policy.ts'
import { fold, newState, type State } from './state.ts'
import { buildView, takeMessages, type View } from './view.ts'

/*
 * A question beside the conversation: answered from its history as it is at this moment, also in the middle of a run. Neither
 * question nor answer is said in the conversation; what the answer cost is an event of it.
 */

export interface SideQuestion {
  events: readonly LogEvent[]
  model: Model
  cacheKey: string
  /** US dollars for the whole conversation; null: no limit. */
  maxBudget: number | null
  /** Dollars of it that are spent and not told by the log. */
  spentBeside: number
  question: string
  clock: Clock
}

export interface SideAnswer {
  text: string
  /** The account of the call, for the log. */
  event: NewOf<'LLMCallEvent'>
}

/** There is not enough left of the budget. */
export class BudgetSpent extends Error {
  override name = 'BudgetSpent'
}

export const asideUsage = 'ask'

/** Rejects with `BudgetSpent`, `ModelError` or the signal's reason. One attempt: who asks can ask again. */
export async function answerAside(asked: SideQuestion, signal: AbortSignal): Promise<SideAnswer> {
  const { model, clock, cacheKey } = asked
  const state = newState()
  for (const event of asked.events) fold(state, event)
  const view = buildView(asked.events, model.vision)
  checkBudget(asked, { state, view })
  const request = {
    messages: withQuestion(closed(takeMessages(view)), asked.question),
    // As in the requests of the run, so that the provider's cache of the history serves; none is to be called.
    // They were written by the run itself.
    tools: (state.system?.tools ?? []) as ToolDefinition[],
    toolChoice: 'none' as const,
    cacheKey,
    maxOutputTokens: null,
  }
  const responseId = clock.id()
  const begun = clock.millis()
  const attempt = { model, request, policy: defaultPolicy, clock, publish: () => {}, responseId, attempt: 1 }
  const { answer, firstTokenMs } = await ask(attempt, signal)
  const event = {
    kind: 'LLMCallEvent',
    source: 'environment',
    usage_id: asideUsage,
    model: model.name,
    response_id: responseId,
    usage: answer.usage,
    cost: model.cost(answer.usage),
    latency_ms: clock.millis() - begun,
    first_token_ms: firstTokenMs,
    attempts: 1,
  } as const
  return { text: answer.text.trim(), event }
}

function checkBudget(asked: SideQuestion, { state, view }: { state: State; view: View }): void {
  const { model, maxBudget, spentBeside, question } = asked
  if (maxBudget === null) return
  const spent = state.spent + spentBeside
  const usage = expectedUsage({ state, view })
  const next = model.cost({ ...usage, prompt_tokens: usage.prompt_tokens + Math.ceil(question.length / 4) }) ?? 0
  if (spent >= maxBudget || spent + next > maxBudget) throw new BudgetSpent('There is not enough left of the budget.')
}

/** Without calls that are still under way: providers refuse a call that has no result. */
function closed(messages: readonly Message[]): Message[] {
  const parts = messages.flatMap((message) => message.parts)
  const answered = new Set(parts.flatMap((part) => (part.type === 'tool-result' ? [part.id] : [])))
  const isOpen = (part: Part) => part.type === 'tool-call' && !answered.has(part.id)
  const cut = messages.find((message) => message.parts.some(isOpen))
  if (cut === undefined) return [...messages]
  const gone = new Set(cut.parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])))
  const isGone = (part: Part) => part.type === 'tool-result' && gone.has(part.id)
  return messages.filter((message) => message !== cut && !message.parts.some(isGone))
}

/** It joins a last message of the user: two of them in a row are refused by some providers. */
function withQuestion(messages: Message[], question: string): Message[] {
  const part: Part = { type: 'text', text: `${instruction}\n\n${question}` }
  const last = messages.at(-1)
  if (last?.role === 'user') return [...messages.slice(0, -1), { ...last, parts: [...last.parts, part] }]
  return [...messages, { role: 'user', parts: [part] }]
}

const instruction =
  'A question beside the work, which goes on without it. Answer from what you know so far, shortly and in plain text; call no tool and do not go on with the task.'
