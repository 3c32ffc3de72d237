import { z } from 'zod'
import { AppConversation, exampleConversation } from './conversations.ts'
import { described } from './described.ts'
import { endpoint } from './endpoint.ts'
import { exampleIds, exampleTime } from './examples.ts'
import { ExecutionStatus } from './execution.ts'
import { Id, IdInput } from './id.ts'
import { SandboxStatus } from './sandboxes.ts'
import { TitleInput } from './text.ts'
import { Timestamp } from './time.ts'

/* Questions about a conversation as a whole: what it waits for, what came out of it, and how to branch off from it. */

const OneConversation = z.object({ id: IdInput })

/** What a conversation can be waiting for. */
export const waits = [
  'nothing',
  'user',
  'confirmation',
  'start',
  'sandbox',
  'model',
  'model_retry',
  'tool',
  'worker',
  'budget',
  'settings',
] as const
export const WaitsFor = z.enum(waits).meta({ id: 'WaitsFor', description: 'What a conversation waits for.' })
export type WaitsFor = z.infer<typeof WaitsFor>

/** `until`: the deadline of this state; `next`: what happens by itself when it passes. Null: it waits for somebody. */
export const Why = z
  .object(
    described(
      {
        execution_status: ExecutionStatus.nullable(),
        sandbox_status: SandboxStatus,
        waits_for: WaitsFor,
        detail: z.string(),
        since: Timestamp,
        until: Timestamp.nullable(),
        next: z.string().nullable(),
        event_id: Id.nullable(),
      },
      {
        execution_status: 'Null unless the sandbox is RUNNING.',
        sandbox_status: 'MISSING when the sandbox is gone.',
        waits_for: 'What has to happen next.',
        detail: 'The same in words.',
        until: 'The deadline of this state; null: it has none.',
        next: 'What happens by itself when that passes; null: it waits for somebody.',
        event_id: 'The event that it waits because of.',
      },
    ),
  )
  .meta({ id: 'Why' })
export type Why = z.infer<typeof Why>

export const explainConversation = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/{id}/why',
  summary: 'Ask what a conversation is waiting for',
  description: 'What it waits for, since when, until when, and what happens by itself then.',
  access: 'conversations:read',
  params: OneConversation,
  returns: Why,
  fails: ['not_found', 'malformed_id'],
  example: {
    returns: {
      execution_status: 'running',
      sandbox_status: 'RUNNING',
      waits_for: 'model',
      detail: 'The model has not answered yet.',
      since: exampleTime,
      until: '2026-11-21T07:18:05.120Z',
      next: 'The call is tried again.',
      event_id: null,
    },
  },
})

/** The text of the last finish or of the last message of the agent; null when it has said nothing yet. */
export const FinalResponse = z
  .object(
    described(
      { response: z.string().nullable(), event_id: Id.nullable(), execution_status: ExecutionStatus.nullable() },
      {
        response: 'The text of the last finish or message of the agent; null: it has said nothing yet.',
        event_id: 'The event that says it.',
        execution_status: 'Null unless the sandbox is RUNNING.',
      },
    ),
  )
  .meta({ id: 'FinalResponse' })
export type FinalResponse = z.infer<typeof FinalResponse>

export const getFinalResponse = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/{id}/final-response',
  summary: 'Get the last answer of the agent',
  description: 'What a caller wants to read when the conversation is finished.',
  access: 'events:read',
  params: OneConversation,
  returns: FinalResponse,
  fails: ['not_found', 'malformed_id'],
  example: {
    returns: { response: 'The parser has a test.', event_id: exampleIds.conversation, execution_status: 'finished' },
  },
})

/** Answered beside the conversation. `cost` is in US dollars; null when the price of the model is not known. */
export const SideAnswer = z
  .object(
    described(
      { answer: z.string(), model: z.string(), cost: z.number().min(0).nullable() },
      {
        answer: 'What the model says, as Markdown.',
        model: 'That answered.',
        cost: 'US dollars; null when its price is not known.',
      },
    ),
  )
  .meta({ id: 'SideAnswer' })
export type SideAnswer = z.infer<typeof SideAnswer>

export const SideQuestion = z
  .object({ question: z.string().trim().min(1).max(10_000).meta({ description: 'In your words; not stored.' }) })
  .meta({ id: 'SideQuestion' })

export const askConversation = endpoint({
  method: 'POST',
  path: '/api/v1/app-conversations/{id}/ask',
  summary: 'Ask the agent a question beside its work',
  description:
    'The model of the conversation answers from its history, within 30 s and without tools, also while the agent works. ' +
    'Neither question nor answer enters the conversation and no run begins; what it costs is counted against the budget ' +
    'under the usage id `ask`. One question of a conversation at a time.',
  access: 'conversations:write',
  params: OneConversation,
  body: SideQuestion,
  returns: SideAnswer,
  fails: ['not_found', 'malformed_id', 'state_conflict', 'quota_exceeded', 'upstream_error', 'upstream_timeout'],
  example: {
    body: { question: 'Which tests have you run so far?' },
    returns: { answer: 'Those of the parser.', model: 'parley/demo', cost: 0 },
  },
})

/** From where to branch: an event, a number, or (both absent) the end of the log. */
export const ForkRequest = z
  .object(
    described(
      {
        from_event_id: IdInput.nullable().default(null),
        from_seq: z.int().positive().nullable().default(null),
        conversation_id: IdInput.nullable().default(null),
        title: TitleInput.nullable().default(null),
      },
      {
        from_event_id: 'The last event that the fork has; null: as `from_seq` says.',
        from_seq: 'The number of the last event that the fork has; null with the other: all events.',
        conversation_id: 'The id that the fork is to have; null: a new one.',
        title: 'Null: the title of the other and `(fork)`.',
      },
    ),
  )
  .refine((request) => request.from_event_id === null || request.from_seq === null, {
    path: ['from_seq'],
    message: 'cannot be combined with from_event_id',
  })
  .meta({ id: 'ForkRequest' })
export type ForkRequest = z.infer<typeof ForkRequest>

export const forkConversation = endpoint({
  method: 'POST',
  path: '/api/v1/app-conversations/{id}/fork',
  summary: 'Fork a conversation',
  description:
    'A new conversation with the events up to a point. It is idle and works in a directory of its own; when the sandbox cannot be reached, in a new one with the files as they were last saved.',
  access: 'conversations:write',
  params: OneConversation,
  body: ForkRequest,
  returns: AppConversation,
  status: 201,
  fails: ['not_found', 'malformed_id', 'conversation_exists', 'state_conflict', 'gone', 'capacity', 'unavailable'],
  example: {
    body: { from_seq: 12, title: 'Another way' },
    returns: { ...exampleConversation, title: 'Another way', execution_status: 'idle' },
  },
})
