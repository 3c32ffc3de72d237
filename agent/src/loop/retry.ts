import type { Log } from '../log.ts'
import { ModelError, type Model, type ModelRequest } from '../model/model.ts'
import type { Answer } from './answer.ts'
import { ask } from './ask.ts'
import { backoff } from './backoff.ts'
import type { ModelCall, NewOf } from './events.ts'
import type { Work } from './work.ts'

/** An answer and the event that accounts for it, not yet stored: it is stored together with what the answer led to. */
export interface Called {
  answer: Answer
  responseId: string
  event: ModelCall<NewOf<'LLMCallEvent'>>
}

/** One request to one model, for one account. */
export interface Asking {
  model: Model
  request: ModelRequest
  usageId: string
  publish: Log['publish']
}

/** Asks until there is an answer or no retry is left. Rejects with `ModelError` or with the signal's reason. */
export async function withRetries(work: Work, asking: Asking, signal: AbortSignal): Promise<Called> {
  const { journal, policy, clock } = work
  const seen = journal.state.spoken
  const responseId = clock.id()
  let lastWaitMs = 0
  for (let attempt = 1; ; attempt += 1) {
    const begun = clock.millis()
    try {
      const heard = await ask({ ...asking, policy, clock, responseId, attempt }, signal)
      const timing = { latency_ms: clock.millis() - begun, first_token_ms: heard.firstTokenMs, attempts: attempt }
      return {
        answer: heard.answer,
        responseId,
        event: { ...accounted(asking, heard.answer, timing), response_id: responseId, seen_seq: seen },
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (!(error instanceof ModelError)) throw error
      const wait = backoff(error, { attempts: attempt, lastWaitMs }, policy.retries, work.random)
      if (wait === null) throw error
      journal.write(retryEvent(error, attempt, wait))
      await clock.sleep(wait, signal)
      lastWaitMs = wait
    }
  }
}

const retryEvent = (error: ModelError, attempt: number, delay: number): NewOf<'LLMRetryEvent'> => ({
  kind: 'LLMRetryEvent',
  source: 'environment',
  attempt,
  delay_ms: delay,
  reason: error.message.slice(0, 4096),
  status: error.status,
})

const accounted = (
  { model, usageId }: Asking,
  { usage }: Answer,
  timing: Pick<NewOf<'LLMCallEvent'>, 'latency_ms' | 'first_token_ms' | 'attempts'>,
): Omit<NewOf<'LLMCallEvent'>, 'response_id'> => ({
  kind: 'LLMCallEvent',
  source: 'environment',
  usage_id: usageId,
  model: model.name,
  usage,
  cost: model.cost(usage),
  ...timing,
})
