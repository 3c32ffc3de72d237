import type { AppConversation } from '@parley/contract/conversations'
import { conversationAllows } from '@parley/contract/execution'
import { sandboxAllows } from '@parley/contract/sandboxes'
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

/** Whether something can be said to the agent, and its history be condensed. */
export const canSay = ({ execution_status: status, sandbox_status }: Of): boolean =>
  sandboxAllows(sandbox_status, 'message') && conversationAllows(status ?? 'idle', 'message')

export const tell = async (id: string, verb: Verb | 'condense'): Promise<void> => {
  try {
    await client.conversations[verb]({ params: { id } })
  } finally {
    await queries.invalidateQueries({ queryKey: ['conversation', id] })
  }
}
