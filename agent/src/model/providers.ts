import { anthropic } from './anthropic.ts'
import { bedrock } from './bedrock.ts'
import type { LlmConfig } from './config.ts'
import type { Family, Provider } from './family.ts'
import { google } from './google.ts'
import { openaiCompatible } from './openai-compatible.ts'
import { openaiChat, openaiResponses } from './openai.ts'

const compatible = openaiCompatible()
const thinking = openaiCompatible({ replay: true })

const own = (): Provider => ({ family: compatible, baseUrl: null, needsKey: false, prices: null })
const hosted = (baseUrl: string, prices: string | null, family: Family = compatible): Provider => ({
  family,
  baseUrl,
  needsKey: true,
  prices,
})

/** What `provider/model` may begin with. */
export const providers: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  ['anthropic', { family: anthropic, baseUrl: 'https://api.anthropic.com/v1', needsKey: true, prices: 'anthropic' }],
  ['openai', { family: openaiResponses, baseUrl: 'https://api.openai.com/v1', needsKey: true, prices: 'openai' }],
  ['gemini', hosted('https://generativelanguage.googleapis.com/v1beta', 'google', google)],
  ['bedrock', { family: bedrock, baseUrl: 'https://bedrock-runtime.amazonaws.com', needsKey: false, prices: 'aws' }],
  ['openrouter', hosted('https://openrouter.ai/api/v1', 'openrouter')],
  ['deepseek', hosted('https://api.deepseek.com/v1', 'deepseek', thinking)],
  ['groq', hosted('https://api.groq.com/openai/v1', 'groq')],
  ['mistral', hosted('https://api.mistral.ai/v1', 'mistral')],
  ['xai', hosted('https://api.x.ai/v1', 'x-ai')],
  ['together_ai', hosted('https://api.together.xyz/v1', 'together')],
  ['fireworks_ai', hosted('https://api.fireworks.ai/inference/v1', 'fireworks')],
  ['moonshot', hosted('https://api.moonshot.ai/v1', 'moonshotai', thinking)],
  ['cerebras', hosted('https://api.cerebras.ai/v1', 'cerebras')],
  ['azure', { family: openaiCompatible({ azure: true }), baseUrl: null, needsKey: true, prices: 'azure' }],
  ['ollama', { ...own(), baseUrl: 'http://localhost:11434/v1' }],
  ['lm_studio', { ...own(), baseUrl: 'http://localhost:1234/v1' }],
  ['vllm', own()],
  ['hosted_vllm', own()],
  ['litellm_proxy', own()],
  ['openai-compatible', own()],
])

/**
 * The provider and the model's name at it. Without a known prefix the name is taken as it is: by the server at the base URL
 * or, where there is none, by the provider that the name tells.
 */
export function providerOf(config: LlmConfig): { prefix: string; name: string; provider: Provider } | null {
  const slash = config.model.indexOf('/')
  const prefix = config.model.slice(0, Math.max(0, slash))
  const known = providers.get(prefix)
  const ownServer = config.base_url ?? config.local_model_base_url ?? null
  if (known !== undefined)
    return { prefix, name: config.model.slice(slash + 1), provider: spoken(prefix, known, config) }
  const guess = guessOf(config.model)
  if (ownServer === null && guess !== null)
    return { prefix: guess, name: config.model, provider: providers.get(guess) ?? own() }
  return ownServer === null ? null : { prefix: 'openai-compatible', name: config.model, provider: own() }
}

/** `openai/` with an address of one's own is any server that speaks chat completions. */
function spoken(prefix: string, provider: Provider, { base_url, api_mode }: LlmConfig): Provider {
  if (prefix !== 'openai') return provider
  const elsewhere = base_url !== null && base_url !== undefined
  if (api_mode === 'chat') return { ...provider, family: openaiChat }
  return elsewhere && api_mode !== 'responses' ? { ...provider, family: compatible, needsKey: false } : provider
}

function guessOf(model: string): string | null {
  if (/^claude/i.test(model)) return 'anthropic'
  if (/^gemini/i.test(model)) return 'gemini'
  return /^(gpt-|o\d|chatgpt)/i.test(model) ? 'openai' : null
}
