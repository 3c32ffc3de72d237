import type { ModelRequest } from '../model/model.ts'
import type { NewOf } from './events.ts'
import type { Called } from './retry.ts'

/** Characters of the messages that are kept, the newest first: a step of a long conversation must not cost all of it again. */
const mostCharacters = 200_000

/** A call and its answer as they were, for somebody who wants to know what the model saw. */
export function completionLog(
  folder: string,
  { messages, tools, toolChoice }: ModelRequest,
  { answer, responseId, event }: Called,
): NewOf<'LLMCompletionLogEvent'> {
  const kept: string[] = []
  let size = 0
  for (const message of messages.toReversed()) {
    const text = JSON.stringify(message)
    size += text.length
    if (size > mostCharacters && kept.length > 0) break
    kept.unshift(text)
  }
  const facts = { tools: tools.map(({ name }) => name), tool_choice: toolChoice }
  const request = `{"messages_left_out":${messages.length - kept.length},"messages":[${kept.join(',')}]}`
  return {
    kind: 'LLMCompletionLogEvent',
    source: 'environment',
    filename: `${folder}/${responseId}.json`,
    log_data: `{"request":${request},"settings":${JSON.stringify(facts)},"response":${JSON.stringify(answer)}}`,
    model_name: event.model,
    usage_id: event.usage_id,
  }
}
