import type { NewEvent } from '@parley/contract/events'
import { ModelError } from '../model/model.ts'
import type { Answer } from './answer.ts'
import { ask } from './ask.ts'
import { backoff } from './backoff.ts'
import { mainUsage, type ModelCall, type NewOf } from './events.ts'
import { takeMessages } from './view.ts'
import type { Work } from './work.ts'

/** An answer and the event that accounts for it, not yet stored: it is stored together with what the answer led to. */
export interface Called {
  answer: Answer
  responseId: string
  event: ModelCall<NewOf<'LLMCallEvent'>>
}

/**
 * Asks the model, with retries. A history that is too long, or that holds an image the provider refuses, is made smaller
 * once and asked again. Rejects with `ModelError` when all is used up, or with the signal's reason.
 */
export async function callModel(work: Work, signal: AbortSignal): Promise<Called> {
  try {
    return await withRetries(work, signal)
  } catch (error) {
    if (!(error instanceof ModelError) || !(await mended(work, error, signal))) throw error
    return await withRetries(work, signal)
  }
}

async function mended({ journal, condense, model }: Work, error: ModelError, signal: AbortSignal): Promise<boolean> {
  if (error.kind === 'context_overflow') {
    const shorter = await condense({ events: journal.log.events, reason: 'overflow', model, signal })
    if (shorter === null) return false
    await journal.commit({ kind: 'Condensation', source: 'environment', ...shorter })
    return true
  }
  if (error.kind !== 'bad_request' || !journal.view.images) return false
  await journal.commit(imagesRemoved(error))
  return true
}

const imagesRemoved = (error: ModelError): NewEvent => ({
  kind: 'NoticeEvent',
  source: 'environment',
  code: 'images_removed',
  detail: `The provider refused the request (${error.message}); it is sent again without the images so far.`,
  level: 'warning',
})

async function withRetries(work: Work, signal: AbortSignal): Promise<Called> {
  const { journal, model, policy, clock } = work
  const seen = journal.state.spoken
  const request = {
    messages: takeMessages(journal.view),
    tools: work.tools.definitions,
    toolChoice: 'auto' as const,
    cacheKey: work.cacheKey,
    maxOutputTokens: policy.maxOutputTokens,
  }
  const responseId = clock.id()
  let lastWaitMs = 0
  for (let attempt = 1; ; attempt += 1) {
    const begun = clock.millis()
    try {
      const heard = await ask({ model, request, policy, clock, log: journal.log, responseId, attempt }, signal)
      const timing = { latency_ms: clock.millis() - begun, first_token_ms: heard.firstTokenMs, attempts: attempt }
      return { answer: heard.answer, responseId, event: accounted(work, heard.answer, responseId, seen, timing) }
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

function accounted(
  { model }: Work,
  { usage }: Answer,
  responseId: string,
  seen: number,
  timing: Pick<NewOf<'LLMCallEvent'>, 'latency_ms' | 'first_token_ms' | 'attempts'>,
): Called['event'] {
  return {
    kind: 'LLMCallEvent',
    source: 'environment',
    usage_id: mainUsage,
    model: model.name,
    response_id: responseId,
    usage,
    cost: model.cost(usage),
    ...timing,
    seen_seq: seen,
  }
}
