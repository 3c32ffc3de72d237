import type { Usage } from '@parley/contract/events'
import { calcPrice, findProvider, type ModelInfo } from '@pydantic/genai-prices'
import type { LlmConfig } from './config.ts'
import { providers } from './providers.ts'
import { blind, notConversing, seeing, verifiedModels } from './verified.ts'

/** US dollars per million tokens. */
export interface Prices {
  input: number
  output: number
  cache_read: number | null
  cache_write: number | null
}

export interface CatalogueModel {
  provider: string
  /** Without the provider. */
  name: string
  verified: boolean
  /** Tokens; null when unknown. */
  context_window: number | null
  max_output: number | null
  vision: boolean
  prices: Prices | null
}

let listed: readonly CatalogueModel[] | null = null

/** Every model we know of, from data in the program; verified ones first. */
export function catalogue(): readonly CatalogueModel[] {
  listed ??= [...providers.entries()]
    .flatMap(([provider, { prices }]) => (prices === null ? [] : ofProvider(provider, prices)))
    .concat(described('parley', 'demo', null))
    .sort((a, b) => Number(b.verified) - Number(a.verified))
  return listed
}

/** What is known of one model, under the name it has for prices and abilities. */
export function lookUp(provider: string, name: string): CatalogueModel {
  const prices = providers.get(provider)?.prices ?? null
  return described(provider, name, prices === null ? null : modelInfo(prices, name))
}

/** US dollars of a call, or null when no price is known. Own prices of the configuration go first. */
export function costOf(usage: Usage, provider: string, name: string, config: LlmConfig): number | null {
  const { input_cost_per_token: input, output_cost_per_token: output } = config
  if (typeof input === 'number' || typeof output === 'number')
    return usage.prompt_tokens * (input ?? 0) + usage.completion_tokens * (output ?? 0)
  const prices = providers.get(provider)?.prices ?? null
  if (prices === null) return null
  const tokens = {
    input_tokens: usage.prompt_tokens,
    cache_read_tokens: usage.cache_read_tokens,
    cache_write_tokens: usage.cache_write_tokens,
    output_tokens: usage.completion_tokens,
  }
  return calcPrice(tokens, name, { providerId: prices })?.total_price ?? null
}

function ofProvider(provider: string, prices: string): CatalogueModel[] {
  const models = findProvider({ providerId: prices })?.models ?? []
  return models
    .filter(({ id, deprecated }) => deprecated !== true && !notConversing.test(id))
    .map((info) => described(provider, info.id, info))
}

/** The price table's own way of telling which entry a name belongs to; none when it has no price for it. */
function modelInfo(prices: string, name: string): ModelInfo | null {
  return calcPrice({ input_tokens: 1, output_tokens: 1 }, name, { providerId: prices })?.model ?? null
}

function described(provider: string, name: string, info: ModelInfo | null): CatalogueModel {
  const known = verifiedModels.find((model) => model.provider === provider && name.startsWith(model.name))
  return {
    provider,
    name,
    verified: known?.name === name,
    context_window: info?.context_window ?? known?.context ?? null,
    max_output: known?.output ?? null,
    vision: ['openai', 'anthropic', 'gemini'].includes(provider) ? !blind.test(name) : seeing.test(name),
    prices: info === null ? null : pricesOf(info),
  }
}

function pricesOf(info: ModelInfo): Prices | null {
  const prices = Array.isArray(info.prices) ? info.prices.at(-1)?.prices : info.prices
  const input = base(prices?.['input_mtok'])
  const output = base(prices?.['output_mtok'])
  if (input === null || output === null) return null
  return {
    input,
    output,
    cache_read: base(prices?.['cache_read_mtok']),
    cache_write: base(prices?.['cache_write_mtok']),
  }
}

const base = (price: number | { base: number } | undefined) =>
  typeof price === 'object' ? price.base : (price ?? null)
