import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Usage } from '@parley/contract/events'
import { ModelError, type ModelPart } from './model.ts'

/*
 * The library's stream as ours. Tool calls are given out only once the answer has come whole: half a call is never one to
 * act on.
 */

type Finish = Extract<ModelPart, { type: 'finish' }>
type ToolCall = Extract<ModelPart, { type: 'tool-call' }>

interface Watch {
  /** Told as the model starts and stops writing (thinking is not writing). */
  writing(now: boolean): void
  /** Whether settings that the provider does not know are an error. */
  strict: boolean
}

/** Throws what the provider sent as an error, and a `ModelError` when the stream ends too soon. */
export async function* modelParts(
  stream: AsyncIterable<LanguageModelV4StreamPart>,
  { writing, strict }: Watch,
): AsyncGenerator<ModelPart> {
  const calls: ToolCall[] = []
  const reasoning = new Map<string, Replay>()
  let responseId = ''
  let finish: Finish | null = null
  for await (const part of stream) {
    if (part.type === 'stream-start' && strict) refuseUnknown(part.warnings)
    if (part.type === 'response-metadata') responseId = part.id ?? responseId
    if (part.type === 'text-delta' || part.type === 'tool-input-start') writing(true)
    if (part.type === 'reasoning-start') writing(false)
    if (part.type === 'tool-call') calls.push(toolCall(part))
    if (part.type === 'error') throw part.error
    if (part.type === 'finish') finish = { type: 'finish', ...outcome(part), responseId }
    const said = saying(part, reasoning)
    if (said !== null) yield said
  }
  if (finish === null) throw new ModelError('transient', 'The answer ended before it was complete.')
  yield* calls
  yield finish
}

/** The part that can be given out as it comes, or null. */
function saying(part: LanguageModelV4StreamPart, reasoning: Map<string, Replay>): ModelPart | null {
  switch (part.type) {
    case 'text-delta':
      return part.delta === '' ? null : { type: 'text', text: part.delta }
    case 'reasoning-start':
      remember(reasoning, part)
      return null
    case 'reasoning-delta':
      remember(reasoning, part)
      return part.delta === '' ? null : { type: 'reasoning', text: part.delta }
    case 'reasoning-end':
      remember(reasoning, part)
      return { type: 'reasoning-end', ...replayOf(reasoning.get(part.id)) }
    default:
      return null
  }
}

function toolCall(part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): ToolCall {
  const { thoughtSignature: signature } = factsOf(part.providerMetadata)
  const signed = typeof signature === 'string' ? { signature } : {}
  return { type: 'tool-call', id: part.toolCallId, name: part.toolName, arguments: part.input, ...signed }
}

/** What a provider says beside a part; its other names say the same again. */
const factsOf = (metadata: Record<string, unknown> | undefined): Record<string, unknown> =>
  (Object.values(metadata ?? {})[0] ?? {}) as Record<string, unknown>

const outcome = (part: { finishReason: LanguageModelV4FinishReason; usage: LanguageModelV4Usage }) => ({
  reason: reasonOf(part.finishReason),
  usage: usageOf(part.usage),
})

function refuseUnknown(warnings: readonly { type: string; feature?: string; details?: string }[]) {
  const unknown = warnings
    .filter(({ type }) => type === 'unsupported')
    .map(({ feature, details }) => details ?? feature)
  if (unknown.length > 0)
    throw new ModelError(
      'config',
      `The provider does not know these settings (drop_params is off): ${unknown.join('; ')}`,
    )
}

/** What a provider wants back with a stretch of reasoning. */
interface Replay {
  signature?: string
  redacted?: string
  item?: string
  encrypted?: string
}

function remember(reasoning: Map<string, Replay>, part: { id: string; providerMetadata?: Record<string, unknown> }) {
  const seen = reasoning.get(part.id) ?? {}
  const facts = factsOf(part.providerMetadata)
  const { signature, itemId, reasoningEncryptedContent } = facts
  const redactedData = facts['redactedData'] ?? facts['redactedContent']
  if (typeof signature === 'string') seen.signature = (seen.signature ?? '') + signature
  if (typeof redactedData === 'string') seen.redacted = redactedData
  if (typeof itemId === 'string') seen.item = itemId
  if (typeof reasoningEncryptedContent === 'string') seen.encrypted = reasoningEncryptedContent
  reasoning.set(part.id, seen)
}

function replayOf({ signature, redacted, item, encrypted }: Replay = {}): { signature?: string; redacted?: string } {
  if (item !== undefined)
    return { signature: JSON.stringify({ item, ...(encrypted === undefined ? {} : { encrypted }) }) }
  return { ...(signature === undefined ? {} : { signature }), ...(redacted === undefined ? {} : { redacted }) }
}

function reasonOf({ unified, raw }: LanguageModelV4FinishReason): Finish['reason'] {
  const cut = unified === 'error' || unified === 'interrupted' || (unified === 'other' && raw === undefined)
  if (cut) throw new ModelError('transient', 'The answer ended before it was complete.')
  return (
    { stop: 'stop', 'tool-calls': 'tools', length: 'length', 'content-filter': 'refusal', other: 'other' } as const
  )[unified]
}

/** A provider's own figure. One that is no count (below zero, beyond all tokens there are) would break what adds it up. */
const count = (said = 0): number => (said >= 0 && said <= mostTokens ? Math.trunc(said) : 0)
const mostTokens = 1e9

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  return {
    prompt_tokens: count(inputTokens.total),
    completion_tokens: count(outputTokens.total),
    cache_read_tokens: count(inputTokens.cacheRead),
    cache_write_tokens: count(inputTokens.cacheWrite),
    reasoning_tokens: count(outputTokens.reasoning),
  }
}
