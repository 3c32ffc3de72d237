/*
 * Models known to work well as an agent: they call tools natively, hold long contexts, and their wire is covered by our
 * tests. `output` is the most tokens of one answer.
 */

export interface VerifiedModel {
  provider: string
  name: string
  output: number
  /** Tokens, where the price table does not say. */
  context?: number
}

export const verifiedModels: readonly VerifiedModel[] = [
  { provider: 'anthropic', name: 'claude-opus-4-5', output: 64_000 },
  { provider: 'anthropic', name: 'claude-sonnet-4-5', output: 64_000 },
  { provider: 'anthropic', name: 'claude-haiku-4-5', output: 64_000 },
  { provider: 'anthropic', name: 'claude-opus-4-1', output: 32_000 },
  { provider: 'openai', name: 'gpt-5.2', output: 128_000 },
  { provider: 'openai', name: 'gpt-5.1', output: 128_000 },
  { provider: 'openai', name: 'gpt-5', output: 128_000 },
  { provider: 'openai', name: 'gpt-5-mini', output: 128_000 },
  { provider: 'openai', name: 'gpt-4.1', output: 32_768 },
  { provider: 'openai', name: 'o3', output: 100_000 },
  { provider: 'openai', name: 'o4-mini', output: 100_000 },
  { provider: 'gemini', name: 'gemini-2.5-pro', output: 65_536, context: 1_048_576 },
  { provider: 'gemini', name: 'gemini-2.5-flash', output: 65_536 },
  { provider: 'parley', name: 'demo', output: 4_096, context: 128_000 },
]

/** Names of models that take images, for providers whose others do not. */
export const seeing =
  /gpt-4o|gpt-4\.1|gpt-5|gpt-6|claude|gemini|vision|pixtral|llava|llama-4|gemma-?3|[-_]vl\b|grok-4|kimi-k2\.5|mistral-(small|medium)-3|o[34](-|$)/i

/** Names of models that take text only, for providers whose others take images. */
export const blind =
  /gpt-3\.5|gpt-4-32k|^gpt-4$|o1-mini|o1-preview|o3-mini|gpt-oss|codex-mini|claude-2|claude-v1|gemini-pro$/i

/** Parts of names of models that do not converse: they are left out of the catalogue. */
export const notConversing =
  /embedding|whisper|transcribe|tts|audio|realtime|moderation|image|davinci|babbage|curie|^ada|ft:|computer-use|rerank|guard|-live-|omni-flash|sora|dall-e|search-preview|instruct$|^veo|^imagen/i
