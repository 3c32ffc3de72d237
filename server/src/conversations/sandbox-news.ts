import type { NewEvent } from '@parley/contract/events'
import type { Conversations } from './service.ts'
import type { ConversationStore } from './store.ts'

interface Parts {
  store: Pick<ConversationStore, 'atWorkIn'>
  append: Conversations['append']
  log: (message: string, details?: Record<string, unknown>) => void
}

/** Appends what happened in a sandbox to the logs of those who work there. Never rejects. */
export function sandboxNews({ store, append, log }: Parts): (sandbox: string, event: NewEvent) => Promise<void> {
  return async (sandbox, event) => {
    try {
      for (const conversation of await store.atWorkIn(sandbox)) await append(conversation, event, false)
    } catch (error) {
      log('News of a sandbox could not be told.', { sandbox, error })
    }
  }
}
