import { createGoogle } from '@ai-sdk/google'
import { apiKey, given } from './config.ts'
import type { Dialect, Family } from './family.ts'
import { reasoningOf } from './reasoning.ts'

/*
 * Gemini. The signature of a call is sent back with it, the text of a thought is not; a call that another model made is marked as to
 * be taken without one.
 */

const dialect: Dialect = {
  list: null,
  system: 'leading',
  joins: () => false,
  elements: () => 1,
  marker: null,
  toolImages: 'inside',
  reasoning: () => null,
  signed: (thoughtSignature) => ({ google: { thoughtSignature } }),
}

export const google: Family = {
  dialect,
  open: (model, config, fetch) =>
    createGoogle({ apiKey: apiKey(config) ?? '', baseURL: config.base_url ?? '', fetch }).chat(model),
  options: (_request, config) => {
    const { safety_settings: settings, extended_thinking_budget: budget } = config
    const thinking = budget ? { thinkingConfig: { thinkingBudget: budget } } : {}
    const safety = settings
      ? { safetySettings: settings.map(({ category, threshold }) => ({ category, threshold })) }
      : {}
    return {
      ...given({ topK: config.top_k }),
      ...reasoningOf(config),
      providerOptions: { google: JSON.parse(JSON.stringify({ ...thinking, ...safety })) },
    }
  },
}
