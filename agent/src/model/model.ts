import type { Usage } from '@parley/contract/events'

/*
 * A language model, whatever speaks behind it. Messages are in our own neutral form; a member of the family turns them into
 * its provider's. The same history always gives the same bytes, so that prompt caches hold.
 */

export type Part =
  | { type: 'text'; text: string }
  | { type: 'image'; url: string }
  | { type: 'reasoning'; text: string; signature?: string; redacted?: string }
  | { type: 'tool-call'; id: string; name: string; arguments: string; signature?: string }
  | { type: 'tool-result'; id: string; name: string; content: (TextPart | ImagePart)[]; isError: boolean }
export type TextPart = { type: 'text'; text: string }
export type ImagePart = { type: 'image'; url: string }

export interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool'
  parts: Part[]
  /** Ends a stretch that stays the same: a cache marker goes here where the provider has them. */
  cache?: boolean
}

export interface ToolDefinition {
  name: string
  description: string
  /** JSON Schema. */
  schema: Record<string, unknown>
}

export interface ModelRequest {
  messages: readonly Message[]
  tools: readonly ToolDefinition[]
  /** `none`: answer in text. */
  toolChoice: 'auto' | 'none'
  /** Names the conversation to the provider's cache. */
  cacheKey: string
  maxOutputTokens: number | null
}

export type ModelPart =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'reasoning-end'; signature?: string; redacted?: string }
  | { type: 'tool-call'; id: string; name: string; arguments: string; signature?: string }
  /** Always the last part. `length`: cut by the output limit. `refusal`: the provider's content policy. */
  | { type: 'finish'; reason: 'stop' | 'tools' | 'length' | 'refusal' | 'other'; usage: Usage; responseId: string }

/** Why a call failed, in the terms the loop decides by. `detail` is safe to show and has no key in it. */
export class ModelError extends Error {
  override name = 'ModelError'
  readonly kind:
    | 'auth'
    | 'quota'
    | 'rate_limit'
    | 'overloaded'
    | 'transient'
    | 'context_overflow'
    | 'bad_request'
    | 'config'
  readonly status: number | null
  /** As the provider asked, in milliseconds. */
  readonly retryAfterMs: number | null
  constructor(
    kind: ModelError['kind'],
    detail: string,
    facts: { status?: number | null; retryAfterMs?: number | null; cause?: unknown } = {},
  ) {
    super(detail, { cause: facts.cause })
    this.kind = kind
    this.status = facts.status ?? null
    this.retryAfterMs = facts.retryAfterMs ?? null
  }
}

export interface Model {
  /** `provider/model` as asked for. */
  readonly name: string
  /** Tokens; null when unknown. */
  readonly contextWindow: number | null
  readonly vision: boolean
  /** One attempt: no retries in here. Rejects with `ModelError`, or with the signal's reason. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>
  /** US dollars, or null when no price is known. */
  cost(usage: Usage): number | null
}
