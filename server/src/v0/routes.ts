import { getV0Conversation, startV0Conversation, v0Sunset } from '@parley/contract/v0'
import { type CallAnswer, serve } from '@parley/wire/serve'
import { successor, type V0 } from './service.ts'

/** Since when V0 has been deprecated (RFC 9745): 1 October 2025. */
const deprecated = `@${Date.UTC(2025, 9, 1) / 1_000}`

export const v0Routes = (v0: V0) => [
  serve(startV0Conversation, ({ who, body, answer, onceId }) => {
    warn(answer)
    return v0.start(who, body, onceId)
  }),
  serve(getV0Conversation, ({ who, params, answer }) => {
    warn(answer)
    return v0.get(who.owner, params.id)
  }),
]

function warn(answer: CallAnswer): void {
  answer.header('deprecation', deprecated)
  answer.header('sunset', v0Sunset)
  answer.header('link', successor)
}
