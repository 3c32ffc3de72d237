import type { EventKind, LogEvent, NewEvent } from '@parley/contract/events'

export type EventOf<K extends EventKind> = Extract<LogEvent, { kind: K }>
export type NewOf<K extends EventKind> = Extract<NewEvent, { kind: K }>

/**
 * A call of the model as we store it: `seen_seq` is the newest message of a user that the request had. Our own events get
 * their final `seq` only when they are committed; messages of users come with theirs.
 */
export type ModelCall<E> = E & { seen_seq: number }

export const seenSeq = (event: EventOf<'LLMCallEvent'>): number =>
  (event as Partial<ModelCall<typeof event>>).seen_seq ?? event.seq

/** The usage id of the loop's own calls; condenser, titles and the like have others. */
export const mainUsage = 'default'
export const condenserUsage = 'condenser'

/** A user-role message that nobody typed: a nudge, a note of the platform. It keeps the loop going. */
export const note = (text: string): NewOf<'MessageEvent'> => ({
  kind: 'MessageEvent',
  source: 'environment',
  llm_message: { role: 'user', content: [{ type: 'text', text, cache_prompt: false }] },
})

export const agentError = (
  call: { tool_name: string; tool_call_id: string },
  error: string,
  kind: 'agent_action' | 'internal' | 'unknown',
): NewOf<'AgentErrorEvent'> => ({
  kind: 'AgentErrorEvent',
  source: 'agent',
  tool_name: call.tool_name,
  tool_call_id: call.tool_call_id,
  error,
  classification: { kind, retryable: false, user_action: 'none' },
})

/** Who asks for a run: a message of a user, unless it was sent only to be kept. */
export const asksForRun = (event: LogEvent): boolean =>
  event.kind === 'MessageEvent' && event.source === 'user' && event.run !== false

/** What hooks add for the model. It neither starts a run nor keeps one going. */
export const hookNote = (context: readonly string[]): NewOf<'MessageEvent'> => ({
  kind: 'MessageEvent',
  source: 'hook',
  llm_message: { role: 'user', content: [{ type: 'text', text: context.join('\n'), cache_prompt: false }] },
})

/* Keys of state updates that the loop writes and reads again. */
export const criticKey = 'critic_result'
export const stopHooksKey = 'stop_hooks'
export const sessionKey = 'session'
export const checkedMessagesKey = 'checked_messages'
export const blockedActionsKey = 'blocked_actions'
/** Messages of the user that a hook refused, with the reasons by id: the model never sees them. */
export const blockedMessagesKey = 'blocked_messages'

export const blockedMessages = (event: LogEvent): string[] =>
  event.kind === 'ConversationStateUpdateEvent' && event.key === blockedMessagesKey
    ? Object.keys((event.value ?? {}) as Record<string, string>)
    : []

export const stateUpdate = (key: string, value: unknown): NewOf<'ConversationStateUpdateEvent'> => ({
  kind: 'ConversationStateUpdateEvent',
  source: 'environment',
  key,
  value,
})
