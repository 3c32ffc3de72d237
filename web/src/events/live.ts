import type { Delta } from '@parley/contract/events'

/*
 * What is being written right now. It is not in the log: it goes when the event it becomes is stored.
 */

export interface Live {
  kind: 'answer' | 'output'
  /** Of the answer's try: a later one begins anew. */
  attempt: number
  text: string
  reasoning: string
}

export type Lives = ReadonlyMap<string, Live>

/** Only the end of a long output is kept: the whole of it comes with its event. */
const longest = 64 * 1024

/** `text` with a piece whose first character has the number `offset`: nothing twice, and a mark where some is missing. */
function joined(text: string, offset: number, piece: string): string {
  if (offset < text.length) return text.slice(0, offset) + piece
  return offset > text.length && text === '' ? `\u2026${piece}` : text + piece
}

/** The texts after one more piece. */
export function withDelta(lives: Lives, delta: Delta): Lives {
  const after = new Map(lives)
  if (delta.kind === 'ToolOutputDelta') {
    const before = after.get(delta.tool_call_id)?.text ?? ''
    const text = (before + delta.content).slice(-longest)
    after.set(delta.tool_call_id, { kind: 'output', attempt: 0, text, reasoning: '' })
    return after
  }
  const known = after.get(delta.response_id)
  if (known !== undefined && known.attempt > delta.attempt) return lives
  const before = known?.attempt === delta.attempt ? known : { text: '', reasoning: '' }
  after.set(delta.response_id, {
    kind: 'answer',
    attempt: delta.attempt,
    text: delta.content === null ? before.text : joined(before.text, delta.offset, delta.content),
    reasoning:
      delta.reasoning_content === null
        ? before.reasoning
        : joined(before.reasoning, delta.offset, delta.reasoning_content),
  })
  return after
}

/** The texts that are still being written after a stored event. */
export function withoutStored(lives: Lives, event: { kind: string; [field: string]: unknown }): Lives {
  if (lives.size === 0) return lives
  if (
    event.kind === 'ConversationStateUpdateEvent' &&
    event['key'] === 'execution_status' &&
    event['value'] !== 'running'
  )
    return new Map()
  const ended =
    event.kind === 'ActionEvent' ? event['llm_response_id'] : (event['tool_call_id'] ?? event['llm_response_id'])
  if (typeof ended !== 'string' || !lives.has(ended)) return lives
  const after = new Map(lives)
  after.delete(ended)
  return after
}
