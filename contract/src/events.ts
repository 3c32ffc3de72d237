import { z } from 'zod'
import { Content, ImageContent, TextContent } from './content.ts'
import { described } from './described.ts'
import { Id } from './id.ts'
import { Timestamp } from './time.ts'

/*
 * The event log of a conversation. Append-only; `seq` is 1, 2, 3 … without gaps and is shared by every way of reading.
 * Kinds marked stored:false travel on live channels only and have no `seq`. The calls are in event-calls.ts.
 */

export { Content, ImageContent, TextContent }

export const eventKinds = [
  'MessageEvent',
  'ActionEvent',
  'ObservationEvent',
  'UserRejectObservation',
  'AgentErrorEvent',
  'SystemPromptEvent',
  'ConversationStateUpdateEvent',
  'ConversationErrorEvent',
  'PauseEvent',
  'InterruptEvent',
  'Condensation',
  'CondensationRequest',
  'CondensationSummaryEvent',
  'HookExecutionEvent',
  'LLMCompletionLogEvent',
  'TokenEvent',
  'ACPToolCallEvent',
  'LLMCallEvent',
  'LLMRetryEvent',
  'NoticeEvent',
] as const
export const EventKind = z.enum(eventKinds)
export type EventKind = z.infer<typeof EventKind>

export const EventSource = z.enum(['agent', 'user', 'environment', 'hook'])
export type EventSource = z.infer<typeof EventSource>

/** What every event has; the other fields depend on `kind`, and unknown ones are kept as they came. */
export const Event = z
  .looseObject(
    described(
      {
        id: Id,
        seq: z.int().positive(),
        timestamp: Timestamp,
        source: EventSource,
        kind: z.string(),
        parent_id: z.string().nullable(),
      },
      {
        seq: 'Numbers the log from 1 without gaps.',
        source: 'Who it is from.',
        kind: 'What it tells; the other members depend on it.',
        parent_id: 'The event that it belongs to; null: none.',
      },
    ),
  )
  .meta({ id: 'Event' })
export type Event = z.infer<typeof Event>

export interface ToolCall {
  id: string
  name: string
  /** JSON text. */
  arguments: string
  /** What the provider wants back with the call, where it signs calls. */
  signature?: string
}

export type Risk = 'UNKNOWN' | 'LOW' | 'MEDIUM' | 'HIGH'

/** Who found the risk of an action. `score` 0 to 1 where the judge gives one. */
export interface RiskVerdict {
  level: Risk
  source: string
  score: number | null
  latency_ms: number
  /** Why, in a few words; null when there is nothing to say. */
  reason: string | null
}

export interface ThinkingBlock {
  type: 'thinking' | 'redacted_thinking'
  thinking?: string
  signature?: string
  data?: string
}

export interface LlmMessage {
  role: 'user' | 'assistant' | 'system' | 'tool'
  content: Content[]
  reasoning_content?: string | null
  thinking_blocks?: ThinkingBlock[]
}

export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  reasoning_tokens: number
}

export interface Classification {
  kind: 'auth' | 'quota' | 'rate_limit' | 'config' | 'transient' | 'agent_action' | 'internal' | 'unknown'
  retryable: boolean
  user_action: 'none' | 'retry' | 'settings'
}

/** An object with a `kind` of its own (`TerminalAction`, `TerminalObservation` …); open, so that a new tool is no new contract. */
export interface Kinded {
  kind: string
  [field: string]: unknown
}

export interface Observation extends Kinded {
  content: Content[]
  is_error: boolean
}

/** What each stored kind says beyond the base. The field names are the promise; more fields may come. */
export interface EventBodies {
  MessageEvent: {
    llm_message: LlmMessage
    llm_response_id?: string | null
    activated_skills?: string[]
    extended_content?: Content[]
    sender?: string | null
    /** Whether this message asks for a run. */
    run?: boolean
  }
  ActionEvent: {
    thought: Content[]
    reasoning_content?: string | null
    thinking_blocks?: ThinkingBlock[]
    responses_reasoning_item?: unknown
    /** Null when the call could not be parsed or validated. */
    action: Kinded | null
    tool_name: string
    tool_call_id: string
    tool_call: ToolCall
    llm_response_id: string
    security_risk: Risk
    /** How `security_risk` came to be; absent when nobody judged. */
    risk?: RiskVerdict
    summary?: string | null
  }
  ObservationEvent: {
    tool_name: string
    tool_call_id: string
    observation: Observation
    action_id: string
    /** Added for the model after the result. */
    extended_content?: Content[]
  }
  UserRejectObservation: {
    tool_name: string
    tool_call_id: string
    action_id: string
    rejection_reason: string
    rejection_source: 'user' | 'hook'
  }
  AgentErrorEvent: { tool_name: string; tool_call_id: string; error: string; classification?: Classification }
  /** `prompt_version` is raised whenever a word of the stable text changes. */
  SystemPromptEvent: {
    system_prompt: Content
    tools: unknown[]
    dynamic_context: Content | null
    prompt_version?: number
  }
  ConversationStateUpdateEvent: { key: string; value: unknown }
  ConversationErrorEvent: { code: string; detail: string; classification?: Classification }
  PauseEvent: { reason?: string }
  InterruptEvent: { reason?: string }
  Condensation: {
    forgotten_event_ids: string[]
    summary: string | null
    summary_offset: number | null
    llm_response_id: string
    /** Results that the model is shown as a short note from now on. */
    stubs?: { event_id: string; note: string }[]
    reason?: 'request' | 'tokens' | 'events' | 'overflow'
    /** Tokens of the next request without it and with it, estimated. */
    tokens_before?: number
    tokens_after?: number
    /** Of the call that wrote the summary. */
    usage?: Usage | null
  }
  CondensationRequest: { reason?: string }
  CondensationSummaryEvent: { summary: string }
  /** `hook_event_type` is spelled `PreToolUse`; texts have at most 50,000 characters. */
  HookExecutionEvent: {
    hook_event_type: string
    /** Of a hook that a model judges: its prompt. */
    hook_command: string
    success: boolean
    exit_code: number | null
    hook_name?: string | null
    tool_name?: string | null
    blocked?: boolean
    /** Started and not waited for. */
    async?: boolean
    stdout?: string
    stderr?: string
    reason?: string | null
    additional_context?: string | null
    error?: string | null
    action_id?: string | null
    message_id?: string | null
    hook_input?: unknown
    latency_ms?: number
  }
  LLMCompletionLogEvent: { filename: string; log_data: string; model_name: string; usage_id: string }
  TokenEvent: { prompt_token_ids: number[]; response_token_ids: number[] }
  ACPToolCallEvent: { tool_call_id: string; title: string }
  /** One call of the model: what it used, cost and how long it took. `cost` null: the price is unknown. */
  LLMCallEvent: {
    usage_id: string
    model: string
    response_id: string
    usage: Usage
    cost: number | null
    latency_ms: number
    first_token_ms: number | null
    attempts: number
  }
  LLMRetryEvent: { attempt: number; delay_ms: number; reason: string; status: number | null }
  /** Something the platform wants seen: a refused request, a limit, a setup script that failed. */
  NoticeEvent: { code: string; detail: string; level: 'info' | 'warning' }
}

/** An event before it is stored: the log gives `id`, `seq` and `timestamp`. */
export type NewEvent = {
  [K in EventKind]: { kind: K; source: EventSource; id?: string } & EventBodies[K]
}[EventKind]

/** Something that went another way than it was asked for. */
export const warning = (code: string, detail: string) =>
  ({ kind: 'NoticeEvent', source: 'environment', code, detail, level: 'warning' }) as const satisfies NewEvent

/** An event as it was stored. */
export type LogEvent = {
  [K in EventKind]: {
    kind: K
    source: EventSource
    id: string
    seq: number
    timestamp: string
    parent_id: string | null
  } & EventBodies[K]
}[EventKind]

/** Live channels only. `offset` counts characters of this stream, so that a viewer can tell a retry from more text. */
export type Delta =
  | {
      kind: 'StreamingDeltaEvent'
      response_id: string
      attempt: number
      offset: number
      content: string | null
      reasoning_content: string | null
    }
  | { kind: 'ToolOutputDelta'; tool_call_id: string; action_id: string; offset: number; content: string }
