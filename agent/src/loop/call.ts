import type { NewEvent } from '@parley/contract/events'
import { ModelError } from '../model/model.ts'
import { completionLog } from './completion-log.ts'
import { mainUsage } from './events.ts'
import { RunFailed } from './failure.ts'
import { withFallbacks } from './fallback.ts'
import { submitPrompts } from './prompts.ts'
import type { Called } from './retry.ts'
import { shrink } from './shrink.ts'
import { sizesByPart } from './size.ts'
import { takeMessages } from './view.ts'
import type { Work } from './work.ts'

/**
 * Asks the model, with retries. A history that is too long, or that holds an image the provider refuses, is made smaller
 * once and asked again. Rejects with `ModelError` when all is used up, or with the signal's reason.
 */
export async function callModel(work: Work, signal: AbortSignal): Promise<Called> {
  try {
    return await mainCall(work, signal)
  } catch (error) {
    if (!(error instanceof ModelError) || !(await mended(work, error, signal))) throw explained(work, error)
  }
  await submitPrompts(work) // of what came meanwhile
  return await mainCall(work, signal).catch((error: unknown) => {
    throw explained(work, error)
  })
}

/** What does not fit is told with the sizes of its parts. */
function explained(work: Work, error: unknown): unknown {
  if (!(error instanceof ModelError) || error.kind !== 'context_overflow') return error
  const detail = `The conversation does not fit the context window of the model: ${sizesByPart(work)}.`
  return new RunFailed('LLMContextWindowExceeded', detail, 'config', { cause: error })
}

async function mended(work: Work, error: ModelError, signal: AbortSignal): Promise<boolean> {
  const { journal } = work
  if (error.kind === 'context_overflow') return shrink(work, 'overflow', signal)
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

async function mainCall(work: Work, signal: AbortSignal): Promise<Called> {
  const { journal } = work
  const request = {
    messages: takeMessages(journal.view),
    tools: work.tools.definitions,
    toolChoice: 'auto' as const,
    cacheKey: work.cacheKey,
    maxOutputTokens: work.policy.maxOutputTokens,
  }
  const asking = { request, usageId: mainUsage, publish: journal.log.publish }
  const called = await withFallbacks(work, asking, signal)
  if (work.logCompletions !== null) journal.write(completionLog(work.logCompletions, request, called))
  return called
}
