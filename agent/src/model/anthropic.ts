import { createAnthropic } from '@ai-sdk/anthropic'
import { apiKey, given, type LlmConfig } from './config.ts'
import type { Dialect, Family } from './family.ts'
import type { Message } from './model.ts'
import { reasoningOf } from './reasoning.ts'

const side = ({ role }: Message) => (role === 'assistant' ? 'assistant' : 'user')

/** Messages of one side become one; system messages at the start stand apart. */
export const messagesDialect: Dialect = {
  list: 'messages',
  system: 'leading',
  joins: (before, after) => side(before) === side(after),
  elements: (_message, joined) => (joined ? 0 : 1),
  marker: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  toolImages: 'inside',
  reasoning({ signature, redacted }) {
    if (redacted !== undefined) return { anthropic: { redactedData: redacted } }
    if (signature === undefined || signature.startsWith('{')) return null
    return { anthropic: { signature } }
  },
}

export const anthropic: Family = {
  dialect: messagesDialect,
  open(model, config, fetch) {
    const provider = createAnthropic({ apiKey: apiKey(config) ?? '', baseURL: config.base_url ?? '', fetch })
    return provider.languageModel(model)
  },
  options: (request, config) => ({
    ...given({ topK: config.top_k }),
    ...reasoningOf(config),
    ...thinking(config, request.maxOutputTokens),
  }),
}

const leastBudget = 1024

/** A budget holds for models whose thinking is set by hand, and stays below the limit of the whole answer. */
function thinking({ extended_thinking_budget: wanted, max_output_tokens }: LlmConfig, limit: number | null) {
  if (wanted === null || wanted === undefined || wanted <= 0) return {}
  const most = limit ?? max_output_tokens ?? null
  const budget = most === null ? wanted : Math.min(wanted, most - 1)
  if (budget < leastBudget) return {}
  return { providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: budget } } } }
}
