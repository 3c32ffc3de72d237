import type { LogEvent } from '@parley/contract/events'
import { textOf } from './timeline.ts'
import { titleOf } from './title.ts'

/** What an event is about, in a few words; empty for one whose kind says it. */
export function previewOf(event: LogEvent): string {
  switch (event.kind) {
    case 'MessageEvent':
      return start(textOf(event.llm_message.content))
    case 'ActionEvent': {
      const { verb, what } = titleOf(event)
      return start(`${verb} ${what}`)
    }
    case 'ObservationEvent':
      return start(textOf(event.observation.content))
    case 'ConversationStateUpdateEvent':
      return start(`${event.key}: ${typeof event.value === 'string' ? event.value : JSON.stringify(event.value)}`)
    case 'NoticeEvent':
    case 'ConversationErrorEvent':
      return start(event.detail)
    default:
      return ''
  }
}

const start = (text: string): string => text.slice(0, 200).trim().replaceAll(/\s+/g, ' ')
