import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { apiKey, given } from './config.ts'
import type { Dialect, Family } from './family.ts'

/*
 * Chat completions as most servers speak them: local engines, proxies, and providers that offer that interface.
 */

export const chatDialect: Dialect = {
  list: 'messages',
  system: 'inside',
  joins: (before, after) => before.role === 'tool' && after.role === 'tool',
  elements: ({ role, parts }) => (role === 'tool' ? parts.filter((part) => part.type === 'tool-result').length : 1),
  marker: null,
  toolImages: 'after',
  reasoning: () => null,
}

/** @param replay sends the model's reasoning back to it; some providers want it, others refuse it */
export function openaiCompatible({ replay = false, azure = false } = {}): Family {
  return {
    dialect: replay ? { ...chatDialect, reasoning: () => ({}) } : chatDialect,
    open(model, config, fetch) {
      const key = apiKey(config)
      const base = config.base_url ?? ''
      const provider = createOpenAICompatible({
        name: 'compatible',
        baseURL: azure ? `${base.replace(/\/$/, '')}/openai/deployments/${encodeURIComponent(model)}` : base,
        includeUsage: true,
        fetch,
        ...(key !== null && !azure ? { apiKey: key } : {}),
        ...(key !== null && azure ? { headers: { 'api-key': key } } : {}),
        ...versionOf(config.api_version ?? (azure ? '2024-10-21' : null)),
      })
      return provider.chatModel(model)
    },
    options: ({ cacheKey }, config) => ({
      headers: {
        'x-session-id': cacheKey,
        ...given({ 'http-referer': config.router_site_url, 'x-title': config.router_app_name }),
      },
      providerOptions: { compatible: given({ reasoningEffort: config.reasoning_effort, top_k: config.top_k }) },
    }),
  }
}

const versionOf = (version: string | null) => (version === null ? {} : { queryParams: { 'api-version': version } })
