import type { ThinkingBlock, ToolCall, Usage } from '@parley/contract/events'
import type { Log } from '../log.ts'
import { ModelError, type ModelPart } from '../model/model.ts'

/** An answer of the model, whole: only what came before the provider's own end of the answer counts. */
export interface Answer {
  text: string
  reasoning: string
  blocks: ThinkingBlock[]
  calls: ToolCall[]
  reason: 'stop' | 'tools' | 'length' | 'refusal' | 'other'
  usage: Usage
}

/** An answer as it grows; viewers get every piece with its place in the stream. */
export interface Draft {
  text: string[]
  textLength: number
  reasoning: string[]
  reasoningLength: number
  /** Reasoning since the last block ended. */
  block: string[]
  blocks: ThinkingBlock[]
  calls: ToolCall[]
  size: number
}

const answerLimit = 8 * 1024 * 1024

export const newDraft = (): Draft => ({
  text: [],
  textLength: 0,
  reasoning: [],
  reasoningLength: 0,
  block: [],
  blocks: [],
  calls: [],
  size: 0,
})

/** Adds a part. `stream` names this answer and this attempt at it, so that a viewer can tell a retry from more text. */
export function addPart(
  draft: Draft,
  part: ModelPart,
  publish: Log['publish'],
  stream: { response_id: string; attempt: number },
): void {
  if (part.type === 'text') {
    const at = { ...stream, offset: draft.textLength }
    publish({ kind: 'StreamingDeltaEvent', ...at, content: part.text, reasoning_content: null })
    draft.text.push(part.text)
    draft.textLength += part.text.length
    draft.size += part.text.length
  } else if (part.type === 'reasoning') {
    const at = { ...stream, offset: draft.reasoningLength }
    publish({ kind: 'StreamingDeltaEvent', ...at, content: null, reasoning_content: part.text })
    draft.reasoning.push(part.text)
    draft.block.push(part.text)
    draft.reasoningLength += part.text.length
    draft.size += part.text.length
  } else if (part.type === 'reasoning-end') {
    if (part.redacted !== undefined) draft.blocks.push({ type: 'redacted_thinking', data: part.redacted })
    else if (part.signature !== undefined)
      draft.blocks.push({ type: 'thinking', thinking: draft.block.join(''), signature: part.signature })
    draft.block = []
  } else if (part.type === 'tool-call') {
    const { type: _, ...call } = part
    draft.calls.push(call)
    draft.size += part.arguments.length
  }
  if (draft.size > answerLimit) throw new ModelError('bad_request', 'The model’s answer is larger than 8 MiB.')
}

export const finishDraft = (draft: Draft, end: Extract<ModelPart, { type: 'finish' }>): Answer => ({
  text: draft.text.join(''),
  reasoning: draft.reasoning.join(''),
  blocks: draft.blocks,
  calls: draft.calls,
  reason: end.reason,
  usage: end.usage,
})
