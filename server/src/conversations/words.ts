import type { LogEvent } from '@parley/contract/events'

/** What an event says as the agent's last word; null when it is none. */
export function saidBy(event: LogEvent): string | null {
  if (event.kind === 'ActionEvent') {
    const { action } = event
    return action?.kind === 'FinishAction' && typeof action['message'] === 'string' ? action['message'] : null
  }
  if (event.kind !== 'MessageEvent') return null
  const texts = event.llm_message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length > 0 ? texts.join('\n') : null
}

/** Last words among which one is looked for. */
export const mostWords = 50
