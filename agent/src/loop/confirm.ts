import type { LogEvent, NewEvent } from '@parley/contract/events'

/*
 * Confirmation as the log tells it. A batch that must be confirmed is appended together with `confirmation_requested`, so
 * an action that never started differs from one whose worker died: only the first was asked about and not yet started.
 *
 *   ActionEvent … + confirmation_requested {action_ids, expires_at}   the loop leaves with `waiting_for_confirmation`
 *   confirmation {decision, action_ids | null, reason, edits}         the user's answer (null: all that wait)
 *   confirmation_started {action_ids}                                 durable before the approved actions are executed
 *
 * An edit is a whole new argument object for one action. The action stays as the model wrote it; the edit is in the answer,
 * and the model is told of it with the result. An answer after `expires_at` approves nothing.
 */

export type Arguments = Record<string, unknown>

export interface Confirmation {
  decision: 'accept' | 'reject'
  /** Null: every action that waits. */
  action_ids: string[] | null
  reason: string | null
  /** New arguments by action id; only of what is accepted. */
  edits?: Record<string, Arguments>
}

export const expiredReason = 'Nobody answered in time, so the request to confirm this action has expired.'

/** The user's answer, for whoever appends it on the user's behalf. */
export const confirmationEvent = (value: Confirmation): NewEvent => state('user', 'confirmation', value)

export const confirmationRequested = (ids: string[], expiresAt: string): NewEvent =>
  state('environment', 'confirmation_requested', { action_ids: ids, expires_at: expiresAt })

export const confirmationStarted = (ids: string[]): NewEvent =>
  state('environment', 'confirmation_started', { action_ids: ids })

function state(source: 'user' | 'environment', key: string, value: unknown): NewEvent {
  return { kind: 'ConversationStateUpdateEvent', source, key, value }
}

type StateUpdate = Extract<LogEvent, { kind: 'ConversationStateUpdateEvent' }>

/** The ids a state update names, or null when it names none or all. */
export function namedActions(event: StateUpdate): string[] | null {
  const ids = (event.value as { action_ids?: unknown } | null)?.action_ids
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : null
}

export function readConfirmation(event: StateUpdate): Confirmation | null {
  const value = event.value as Partial<Confirmation> | null
  if (value?.decision !== 'accept' && value?.decision !== 'reject') return null
  const answer = { decision: value.decision, action_ids: namedActions(event), reason: value.reason ?? null }
  return { ...answer, edits: value.edits ?? {} }
}

/** When a request ends by itself; null when it does not. */
export function expiryOf(event: StateUpdate): string | null {
  const at = (event.value as { expires_at?: unknown } | null)?.expires_at
  return typeof at === 'string' ? at : null
}
