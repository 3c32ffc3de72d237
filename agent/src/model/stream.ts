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
    switch (part.type) {
      case 'stream-start':
        if (strict) refuseUnknown(part.warnings)
        break
      case 'response-metadata':
        responseId = part.id ?? responseId
        break
      case 'text-delta':
        writing(true)
        if (part.delta !== '') yield { type: 'text', text: part.delta }
        break
      case 'tool-input-start':
      case 'tool-input-delta':
        writing(true)
        break
      case 'reasoning-start':
      case 'reasoning-delta':
        writing(false)
        remember(reasoning, part)
        if (part.type === 'reasoning-delta' && part.delta !== '') yield { type: 'reasoning', text: part.delta }
        break
      case 'reasoning-end':
        remember(reasoning, part)
        yield { type: 'reasoning-end', ...replayOf(reasoning.get(part.id)) }
        break
      case 'tool-call':
        calls.push({ type: 'tool-call', id: part.toolCallId, name: part.toolName, arguments: part.input })
        break
      case 'error':
        throw part.error
      case 'finish':
        finish = { type: 'finish', reason: reasonOf(part.finishReason), usage: usageOf(part.usage), responseId }
        break
    }
  }
  if (finish === null) throw new ModelError('transient', 'The answer ended before it was complete.')
  yield* calls
  yield finish
}

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
  for (const facts of Object.values(part.providerMetadata ?? {})) {
    if (typeof facts !== 'object' || facts === null) continue
    const { signature, redactedData, itemId, reasoningEncryptedContent, thoughtSignature } = facts as Record<
      string,
      unknown
    >
    if (typeof signature === 'string') seen.signature = (seen.signature ?? '') + signature
    if (typeof thoughtSignature === 'string') seen.signature = thoughtSignature
    if (typeof redactedData === 'string') seen.redacted = redactedData
    if (typeof itemId === 'string') seen.item = itemId
    if (typeof reasoningEncryptedContent === 'string') seen.encrypted = reasoningEncryptedContent
  }
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

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  return {
    prompt_tokens: inputTokens.total ?? 0,
    completion_tokens: outputTokens.total ?? 0,
    cache_read_tokens: inputTokens.cacheRead ?? 0,
    cache_write_tokens: inputTokens.cacheWrite ?? 0,
    reasoning_tokens: outputTokens.reasoning ?? 0,
  }
}
