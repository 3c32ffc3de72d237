import { createOpenAI } from '@ai-sdk/openai'
import { apiKey, given, type LlmConfig } from './config.ts'
import type { Dialect, Family } from './family.ts'
import type { Message } from './model.ts'
import { chatDialect } from './openai-compatible.ts'
import { reasoningOf } from './reasoning.ts'

/*
 * OpenAI's own interfaces: responses (nothing is stored there; encrypted reasoning is asked for and sent back) and chat.
 */

const responsesDialect: Dialect = {
  list: 'input',
  system: 'inside',
  joins: (before, after) => before.role === 'tool' && after.role === 'tool',
  elements: ({ role, parts }) => {
    if (role === 'tool') return parts.filter((part) => part.type === 'tool-result').length
    return role === 'assistant' ? assistantItems(parts) : 1
  },
  marker: null,
  toolImages: 'inside',
  reasoning({ signature }) {
    const replay = replayed(signature)
    if (replay === null) return null
    return {
      openai: given({ itemId: replay.item, reasoningEncryptedContent: replay.encrypted }) as Record<string, string>,
    }
  },
}

/** Summary parts of one reasoning item go back as one; an item without its encrypted content is left out by the library. */
function assistantItems(parts: Message['parts']): number {
  const items = new Map<string, boolean>()
  let others = 0
  for (const part of parts) {
    if (part.type === 'tool-call' || (part.type === 'text' && part.text !== '')) others++
    const replay = part.type === 'reasoning' ? replayed(part.signature) : null
    if (replay !== null) items.set(replay.item, replay.encrypted !== undefined || items.get(replay.item) === true)
  }
  return others + [...items.values()].filter(Boolean).length
}

function replayed(signature: string | undefined): { item: string; encrypted?: string } | null {
  if (signature === undefined || !signature.startsWith('{"item":')) return null
  try {
    return JSON.parse(signature) as { item: string; encrypted?: string }
  } catch {
    return null
  }
}

function options(config: LlmConfig, cacheKey: string, responses: boolean) {
  const { reasoning_summary, prompt_cache_retention, caching_prompt } = config
  const cached = caching_prompt !== false
  return {
    ...reasoningOf(config),
    providerOptions: {
      openai: {
        store: false,
        ...(cached ? { promptCacheKey: cacheKey } : {}),
        ...(cached ? given({ promptCacheRetention: prompt_cache_retention }) : {}),
        ...(responses ? given({ reasoningSummary: reasoning_summary }) : {}),
      },
    },
  }
}

function family(mode: 'chat' | 'responses'): Family {
  return {
    dialect: mode === 'chat' ? chatDialect : responsesDialect,
    open(model, config, fetch) {
      const provider = createOpenAI({ apiKey: apiKey(config) ?? '', baseURL: config.base_url ?? '', fetch })
      return mode === 'chat' ? provider.chat(model) : provider.responses(model)
    },
    options: ({ cacheKey }, config) => options(config, cacheKey, mode === 'responses'),
  }
}

export const openaiChat = family('chat')
export const openaiResponses = family('responses')
