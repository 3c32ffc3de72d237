import type { NewEvent } from '@parley/contract/events'
import type { Clock } from '@parley/store/clock'
import { ModelError, type Model } from '../model/model.ts'
import { checkBudget, expectedUsage } from './limits.ts'
import { withRetries, type Asking, type Called } from './retry.ts'
import type { Work } from './work.ts'

/** A model that could not be reached is not tried first again for so long. */
const restMs = 3 * 60_000

/** What another provider may do better. A refused request, a wrong key or a history that is too long is not among it. */
const passing: ReadonlySet<ModelError['kind']> = new Set(['rate_limit', 'overloaded', 'transient', 'quota'])

/** Until when each model that failed is passed over; forgotten with the model. */
const resting = new WeakMap<Model, number>()

/** The answer of the conversation's model or, when it cannot be reached, of the first of its fallbacks that can. */
export async function withFallbacks(work: Work, asking: Omit<Asking, 'model'>, signal: AbortSignal): Promise<Called> {
  const models = inOrder([work.model, ...work.fallbacks], work.clock)
  for (const [at, model] of models.entries()) {
    // The first one was checked when the turn began.
    if (model !== work.model) checkBudget(work, model, expectedUsage(work.journal))
    try {
      return await withRetries(work, { ...asking, model }, signal)
    } catch (error) {
      const next = models[at + 1]
      if (next === undefined || !(error instanceof ModelError) || !passing.has(error.kind)) throw error
      resting.set(model, work.clock.millis() + restMs)
      work.journal.write(fellBack(model, next, error))
    }
  }
  throw new Error('there is no model') // never: the list has the conversation's own
}

/** Those that failed lately come last. */
function inOrder(models: readonly Model[], clock: Clock): Model[] {
  if (models.length === 1) return [...models]
  const now = clock.millis()
  const rests = (model: Model) => (resting.get(model) ?? 0) > now
  return [...models.filter((model) => !rests(model)), ...models.filter(rests)]
}

const fellBack = (model: Model, next: Model, error: ModelError): NewEvent => ({
  kind: 'NoticeEvent',
  source: 'environment',
  code: 'llm_fallback',
  detail: `${model.name} could not be reached (${error.message.slice(0, 1000)}); ${next.name} is asked instead.`,
  level: 'warning',
})
