import { type Usage, warning } from '@parley/contract/events'
import type { Model } from '../model/model.ts'
import type { Spent } from '../tools/tool.ts'
import type { NewOf } from './events.ts'
import { RunFailed } from './failure.ts'
import type { Journal } from './journal.ts'
import type { State } from './state.ts'
import type { Work } from './work.ts'

/** Ends the run before the call that would cross a limit. */
export function checkLimits(work: Work): void {
  const { policy, journal } = work
  const { state } = journal
  if (state.iterations >= policy.maxIterations) {
    throw new RunFailed('MaxIterationsReached', `The limit of ${policy.maxIterations} steps is reached.`, 'config')
  }
  checkBudget(work, work.model, expectedUsage(work.journal))
  if (policy.maxBudget !== null && state.spent >= 0.8 * policy.maxBudget && !state.budgetWarned)
    noticeBudget(work, state, policy.maxBudget)
}

/** Ends the run when a call of `model` that uses so much would cross the budget. */
export function checkBudget(work: Work, model: Model, usage: Usage): void {
  const { state } = work.journal
  const most = work.policy.maxBudget
  if (most === null) return
  const next = model.cost(usage)
  if (next === null && !state.priceNoted) noticePrice(work, model)
  if (state.spent >= most || state.spent + (next ?? 0) > most + 1e-9) {
    throw new RunFailed(
      'MaxBudgetReached',
      `${dollars(state.spent)} of ${dollars(most)} are spent${nextCall(next)}.`,
      'config',
    )
  }
}

/** What the next call will probably use: the known prompt and what was added, and an answer of the usual length. */
export function expectedUsage({ state, view }: Pick<Journal, 'state' | 'view'>): Usage {
  const { lastUsage, modelCalls, completionTokens } = state
  const whole = Math.ceil(view.characters / 4)
  const none = { cache_write_tokens: 0, reasoning_tokens: 0 }
  if (lastUsage === null) return { ...none, prompt_tokens: whole, completion_tokens: 0, cache_read_tokens: 0 }
  const prompt = Math.max(lastUsage.prompt_tokens, Math.min(whole, lastUsage.prompt_tokens * 2))
  const completion = Math.ceil(completionTokens / modelCalls)
  const cached = Math.min(prompt, lastUsage.cache_read_tokens + lastUsage.cache_write_tokens)
  return { ...none, prompt_tokens: prompt, completion_tokens: completion, cache_read_tokens: cached }
}

/** What others spent for this conversation, as an event of its own log: it counts against the budget like a call. */
export const charged = ({ usageId, id, model, usage, cost }: Spent): NewOf<'LLMCallEvent'> => ({
  kind: 'LLMCallEvent',
  source: 'environment',
  usage_id: usageId,
  model,
  response_id: id,
  usage,
  cost,
  latency_ms: 0,
  first_token_ms: null,
  attempts: 1,
})

function noticePrice({ journal }: Work, model: Model): void {
  const detail = `No price is known for ${model.name}, so the budget cannot be kept. Set the cost per token in the LLM settings.`
  journal.write(warning('price_unknown', detail))
}

function noticeBudget({ journal }: Work, { spent }: State, most: number): void {
  const detail = `${dollars(spent)} of the budget of ${dollars(most)} are spent.`
  journal.write(warning('budget_warning', detail))
}

const nextCall = (cost: number | null) => (cost === null ? '' : `, and the next call would cost about ${dollars(cost)}`)
const dollars = (value: number) => `$${value.toFixed(value < 0.1 ? 4 : 2)}`
