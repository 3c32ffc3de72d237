import type { Content, LogEvent } from '@parley/contract/events'

/* A history as the chat messages that services outside understand: those that judge actions, and those that judge the work. */

export type ChatMessage = Record<string, unknown>

/** What the event says, or nothing; `cut` bounds each text. */
export function chatMessages(event: LogEvent, cut: (text: string) => string): ChatMessage[] {
  switch (event.kind) {
    case 'SystemPromptEvent':
      return [{ role: 'system', content: cut(textOf([event.system_prompt])) }]
    case 'MessageEvent':
      return [
        { role: event.source === 'agent' ? 'assistant' : 'user', content: cut(textOf(event.llm_message.content)) },
      ]
    case 'ActionEvent':
      return [called(event.tool_call_id, event.tool_name, withoutRisk(event.tool_call.arguments), cut)]
    case 'ObservationEvent':
      return [{ role: 'tool', tool_call_id: event.tool_call_id, content: cut(textOf(event.observation.content)) }]
    case 'AgentErrorEvent':
      return [{ role: 'tool', tool_call_id: event.tool_call_id, content: cut(event.error) }]
    case 'UserRejectObservation':
      return [{ role: 'tool', tool_call_id: event.tool_call_id, content: cut(event.rejection_reason) }]
    default:
      return []
  }
}

/** The newest `most` messages of a history. It is read from its end: a long one costs no more than a short one. */
export function newestChatMessages(
  events: readonly LogEvent[],
  most: number,
  cut: (text: string) => string,
): ChatMessage[] {
  const messages: ChatMessage[] = []
  for (let at = events.length - 1; at >= 0 && messages.length < most; at -= 1) {
    const event = events[at]
    if (event !== undefined) messages.push(...chatMessages(event, cut).toReversed())
  }
  return messages.slice(0, most).toReversed()
}

export const called = (id: string, name: string, args: string, cut: (text: string) => string): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: cut(args) } }],
})

/** The model's own rating would colour the judgement. */
export function withoutRisk(args: string): string {
  if (!args.includes('security_risk')) return args
  const { security_risk: _, ...rest } = JSON.parse(args) as Record<string, unknown>
  return JSON.stringify(rest)
}

const textOf = (content: readonly Content[]): string =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ')
