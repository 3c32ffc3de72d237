import { z } from 'zod'
import { described, done } from './described.ts'
import { endpoint } from './endpoint.ts'
import { Event, EventKind, EventSource } from './events.ts'
import { exampleTime } from './examples.ts'
import { IdInput, idList } from './id.ts'
import { page, pageQuery } from './page.ts'
import { TimestampInput } from './time.ts'

/*
 * The calls that read the log of a conversation, follow it, and answer it; message.ts writes into it.
 */

export const EventPage = page(Event).meta({ id: 'EventPage' })
export type EventPage = z.infer<typeof EventPage>

const OfConversation = z.object({ id: IdInput })
/** What every reader of a log may ask for. */
export const eventFilters = {
  kind__eq: EventKind.optional().meta({ description: 'Only events of this kind.' }),
  timestamp__gte: TimestampInput.optional(),
  timestamp__lt: TimestampInput.optional(),
}
export const eventOrder = z
  .enum(['TIMESTAMP', 'TIMESTAMP_DESC'])
  .default('TIMESTAMP')
  .meta({ description: 'By their number, which is the order of their times.' })

const filters = {
  ...eventFilters,
  source__eq: EventSource.optional().meta({ description: 'Only events from there.' }),
}
/** Where a live channel begins: after this number. 0 is the beginning; absent: what is new from now on. */
const LiveQuery = z.object({
  after_seq: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .meta({ description: 'Begins after this number; 0 is the beginning, absent: what is new from now on.' }),
})

export const exampleEvent = {
  id: '0199f3c2-7a10-7c3e-9a51-2f0d6b1c8e44',
  seq: 2,
  timestamp: exampleTime,
  source: 'user',
  kind: 'MessageEvent',
  parent_id: null,
  llm_message: { role: 'user', content: [{ type: 'text', text: 'Say hello.', cache_prompt: false }] },
}

export const searchEvents = endpoint({
  method: 'GET',
  path: '/api/v1/conversation/{id}/events/search',
  summary: 'Search the events of a conversation',
  description: 'A page of the event log. Times are compared as instants; `seq` numbers the log without gaps.',
  access: 'events:read',
  params: OfConversation,
  query: z.object({
    ...filters,
    seq__gt: z.coerce.number().int().min(0).optional().meta({ description: 'Only what comes after this number.' }),
    sort_order: eventOrder,
    ...pageQuery(100),
  }),
  returns: EventPage,
  fails: ['not_found', 'malformed_id', 'malformed_page_id'],
  example: { returns: { items: [exampleEvent], next_page_id: null } },
})

export const countEvents = endpoint({
  method: 'GET',
  path: '/api/v1/conversation/{id}/events/count',
  summary: 'Count the events of a conversation',
  description: 'How many events the same filters would find.',
  access: 'events:read',
  params: OfConversation,
  query: z.object(filters),
  returns: z.int().min(0),
  fails: ['not_found', 'malformed_id'],
  example: { returns: 42 },
})

export const getEvents = endpoint({
  method: 'GET',
  path: '/api/v1/conversation/{id}/events',
  summary: 'Get events by id',
  description: 'In the order of the ids; null for an event that is not in this conversation.',
  access: 'events:read',
  params: OfConversation,
  query: z.object({ ids: idList(100) }),
  returns: z.array(Event.nullable()),
  fails: ['not_found', 'malformed_id', 'too_many_ids'],
  example: { returns: [exampleEvent, null] },
})

export const ConfirmationAnswer = z
  .object(
    described(
      {
        accept: z.boolean(),
        action_ids: z
          .array(IdInput)
          .min(1)
          .max(100)
          .optional()
          .meta({ description: 'The actions that are answered; absent: every one that waits.' }),
        edits: z
          .record(z.string().max(64), z.record(z.string(), z.unknown()))
          .optional()
          .meta({ description: 'New arguments by action id: they are executed in the place of the proposed ones.' }),
        reason: z.string().max(10_000).default('User rejected the action.'),
      },
      {
        accept: 'True: they run. False: they are refused with the reason.',
        reason: 'Of a refusal; the agent reads it.',
      },
    ),
  )
  .meta({ id: 'ConfirmationAnswer' })
export type ConfirmationAnswer = z.infer<typeof ConfirmationAnswer>

export const respondToConfirmation = endpoint({
  method: 'POST',
  path: '/api/v1/conversation/{id}/events/respond_to_confirmation',
  summary: 'Accept or reject the pending actions',
  description:
    'Accepting runs them, with other arguments where `edits` says so; rejecting records the reason for each of them and ' +
    'leaves the conversation idle. Actions that are not named go on waiting.',
  access: 'events:write',
  params: OfConversation,
  body: ConfirmationAnswer,
  returns: z.object({ success: done }),
  fails: ['not_found', 'malformed_id', 'state_conflict'],
  example: { body: { accept: true }, returns: { success: true } },
})

export const streamEvents = endpoint({
  method: 'GET',
  path: '/api/v1/conversation/{id}/events/stream',
  summary: 'Follow the events of a conversation',
  description:
    'Server-sent events: the log after `after_seq` or `Last-Event-ID` without gap or duplicate, then what happens. ' +
    'Live-only kinds (`StreamingDeltaEvent`, `ToolOutputDelta`) have no number and are not replayed.',
  access: 'events:read',
  params: OfConversation,
  query: LiveQuery,
  returns: z.looseObject({ kind: z.string().meta({ description: 'What it tells.' }) }),
  answer: 'sse',
  fails: ['not_found', 'malformed_id', 'unavailable'],
  example: { returns: exampleEvent },
})

export const eventSocket = endpoint({
  method: 'GET',
  path: '/api/v1/conversation/{id}/events/socket',
  summary: 'Follow and answer a conversation over a WebSocket',
  description:
    'One event per frame: what `after_seq`, `after_id`, `after_timestamp` (inclusive) or `resend_mode=all` asks for, then ' +
    'what happens. Credentials come in a header, a cookie or, within 10 s, the first frame ' +
    '`{"type":"auth","api_key":"…"}`. A frame with a message object posts it and runs the agent. ' +
    'Close codes: 4001 not authenticated, 4004 unknown conversation, 1013 too many viewers.',
  access: 'events:read',
  params: OfConversation,
  query: z.object({
    ...LiveQuery.shape,
    resend_mode: z
      .enum(['all', 'since'])
      .optional()
      .meta({ description: '`all`: from the beginning. `since`: what the other parameters say.' }),
    after_timestamp: TimestampInput.optional(),
    after_id: IdInput.optional(),
  }),
  returns: z.looseObject({ kind: z.string().meta({ description: 'What it tells.' }) }),
  answer: 'socket',
  fails: ['not_found', 'malformed_id', 'capacity'],
  example: { returns: exampleEvent },
})
