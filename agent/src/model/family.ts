import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Clock } from '@parley/store/clock'
import type { LlmConfig } from './config.ts'
import type { Message, ModelRequest } from './model.ts'

/** What differs between the wires when our messages become the library's. */
export interface Dialect {
  /** The array of the request's body that holds the history; null where a body must go out as the library made it. */
  list: 'messages' | 'input' | null
  /** `leading`: system messages at the start stand outside the list, later ones are sent as the user's. */
  system: 'inside' | 'leading'
  /** Neighbours that become one element, or that must stay together. */
  joins(before: Message, after: Message): boolean
  /** How many elements of the list a message becomes; `joined`: it belongs to the group of the one before. */
  elements(message: Message, joined: boolean): number
  /** Options of a message at which a stretch to cache ends; null where the wire has no markers. */
  marker: Record<string, Record<string, { type: string }>> | null
  /** Images in a tool's result: sent there, or in a user message after the results. */
  toolImages: 'inside' | 'after'
  /** Options that replay a reasoning part; null leaves the part out. */
  reasoning(
    part: Extract<Message['parts'][number], { type: 'reasoning' }>,
  ): Record<string, Record<string, string>> | null
  /** Options that replay the signature of a tool call; none where calls are not signed. */
  signed?(signature: string): Record<string, Record<string, string>>
}

export interface Beside {
  fetch: typeof globalThis.fetch
  clock: Clock
}

/** One way of speaking to models. */
export interface Family {
  dialect: Dialect
  /** The library's model. `fetch` is the only way out for its calls, `beside` for what must be asked before one. */
  open(model: string, config: LlmConfig, fetch: typeof globalThis.fetch, beside: Beside): LanguageModelV4
  /** What this family adds to a call. */
  options(request: ModelRequest, config: LlmConfig, model: string): Partial<LanguageModelV4CallOptions>
}

/** One prefix of `provider/model`. */
export interface Provider {
  family: Family
  /** Null: the configuration must say where. */
  baseUrl: string | null
  needsKey: boolean
  /** Its name in the price table; null where nothing has a price. */
  prices: string | null
}
