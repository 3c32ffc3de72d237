import type { AppConversation } from '@parley/contract/conversations'
import { client, queries } from '../api.ts'

/* What one can tell an agent to do with its run. */

export type Verb = 'pause' | 'interrupt' | 'run' | 'resume'

type Of = Pick<AppConversation, 'execution_status' | 'sandbox_status'>

/** Those that make sense now. */
export function verbsFor({ execution_status: status, sandbox_status }: Of): Verb[] {
  if (status === 'running') return ['pause', 'interrupt']
  if (status === 'paused' || (status === null && sandbox_status === 'PAUSED')) return ['resume']
  return status === 'error' || status === 'stuck' ? ['run'] : []
}

export const tell = async (id: string, verb: Verb): Promise<void> => {
  try {
    await client.conversations[verb]({ params: { id } })
  } finally {
    await queries.invalidateQueries({ queryKey: ['conversation', id] })
  }
}
