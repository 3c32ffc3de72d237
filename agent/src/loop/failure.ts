import type { Classification } from '@parley/contract/events'
import { ModelError } from '../model/model.ts'
import type { NewOf } from './events.ts'

/** Ends the run in error. `detail` is shown to the user. */
export class RunFailed extends Error {
  override name = 'RunFailed'
  readonly code: string
  readonly kind: Classification['kind']
  constructor(code: string, detail: string, kind: Classification['kind'], options?: ErrorOptions) {
    super(detail, options)
    this.code = code
    this.kind = kind
  }
}

const ofModel: Record<ModelError['kind'], [code: string, kind: Classification['kind'], text: string]> = {
  auth: ['LLMAuthenticationError', 'auth', 'The LLM key was rejected'],
  quota: ['LLMQuotaExceeded', 'quota', 'The quota of the LLM account is used up'],
  rate_limit: ['LLMRateLimited', 'rate_limit', 'The LLM provider limits the rate of requests'],
  overloaded: ['LLMOverloaded', 'transient', 'The LLM provider is overloaded'],
  transient: ['LLMUnavailable', 'transient', 'The LLM could not be reached'],
  context_overflow: [
    'LLMContextWindowExceeded',
    'config',
    'The conversation does not fit the context window of the model',
  ],
  bad_request: ['LLMBadRequest', 'config', 'The LLM provider refused the request'],
  config: ['LLMConfigurationError', 'config', 'The LLM settings are wrong'],
}

/** Any error of the loop as the event that tells of it. */
export function failureEvent(error: unknown): NewOf<'ConversationErrorEvent'> {
  const { code, kind, detail } = failure(error)
  const retryable = kind === 'rate_limit' || kind === 'transient'
  const settings = kind === 'auth' || kind === 'quota' || kind === 'config'
  const user_action = settings ? 'settings' : retryable ? 'retry' : 'none'
  const source = 'environment'
  const classification = { kind, retryable, user_action } as const
  return { kind: 'ConversationErrorEvent', source, code, detail: detail.slice(0, 4096), classification }
}

function failure(error: unknown): { code: string; kind: Classification['kind']; detail: string } {
  if (error instanceof RunFailed) return { code: error.code, kind: error.kind, detail: error.message }
  if (error instanceof ModelError) {
    const [code, kind, text] = ofModel[error.kind]
    return { code, kind, detail: error.message === '' ? `${text}.` : `${text}: ${error.message}` }
  }
  const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return { code: 'InternalError', kind: 'internal', detail }
}
