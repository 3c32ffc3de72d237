import type { Work } from './processor.ts'

/** One line in the log of the service. What was said stays in the conversation: a log has other readers. */
export const logging =
  (log: (message: string, details: Record<string, unknown>) => void): Work =>
  async ({ event, subject }) => {
    const { id, seq, kind, source, timestamp } = event
    log('An event was stored.', { conversation: subject.id, event: id, seq, kind, source, timestamp })
    return { status: 'SUCCESS', detail: null }
  }
