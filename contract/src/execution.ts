import { z } from 'zod'

/** What the agent of a conversation is doing. */
export const executionStatuses = [
  'idle',
  'running',
  'paused',
  'waiting_for_confirmation',
  'finished',
  'error',
  'stuck',
  'deleting',
] as const
export const ExecutionStatus = z.enum(executionStatuses).meta({
  id: 'ExecutionStatus',
  description: 'What the agent does. A new message revives `finished`, `error` and `stuck`.',
})
export type ExecutionStatus = z.infer<typeof ExecutionStatus>

/** Where a status can go. A new message revives `finished`, `error` and `stuck`; only `deleting` is the end. */
export const executionTransitions: Readonly<Record<ExecutionStatus, readonly ExecutionStatus[]>> = {
  idle: ['running', 'paused', 'error', 'deleting'],
  running: ['idle', 'paused', 'waiting_for_confirmation', 'finished', 'error', 'stuck', 'deleting'],
  paused: ['idle', 'running', 'error', 'deleting'],
  waiting_for_confirmation: ['running', 'idle', 'paused', 'error', 'deleting'],
  finished: ['idle', 'running', 'error', 'deleting'],
  error: ['idle', 'running', 'deleting'],
  stuck: ['idle', 'running', 'error', 'deleting'],
  deleting: [],
}

/** True when an execution in `from` may become `to`; staying as it is is always allowed. */
export const executionMayBecome = (from: ExecutionStatus, to: ExecutionStatus): boolean =>
  from === to || executionTransitions[from].includes(to)

/** What can be asked of a conversation. */
export type ConversationVerb = 'message' | 'run' | 'pause' | 'interrupt' | 'confirm' | 'fork' | 'delete'

const allowedIn: Readonly<Record<ConversationVerb, readonly ExecutionStatus[]>> = {
  message: ['idle', 'running', 'paused', 'waiting_for_confirmation', 'finished', 'error', 'stuck'],
  run: ['idle', 'running', 'paused', 'waiting_for_confirmation', 'finished', 'error', 'stuck'],
  pause: ['idle', 'running', 'paused', 'waiting_for_confirmation'],
  interrupt: ['idle', 'running', 'paused', 'waiting_for_confirmation', 'finished', 'error', 'stuck'],
  confirm: ['waiting_for_confirmation'],
  fork: ['idle', 'running', 'paused', 'waiting_for_confirmation', 'finished', 'error', 'stuck'],
  delete: executionStatuses,
}

/** True when a conversation in `status` takes `verb`; otherwise the caller gets `state_conflict`. */
export const conversationAllows = (status: ExecutionStatus, verb: ConversationVerb): boolean =>
  allowedIn[verb].includes(status)

/** A client that polls stops here: nothing more happens until somebody acts. */
export const restsUntilAsked = (status: ExecutionStatus): boolean =>
  status === 'finished' || status === 'error' || status === 'stuck' || status === 'waiting_for_confirmation'
