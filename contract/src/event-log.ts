import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Event, EventKind, EventSource } from './events.ts'
import { exampleTime } from './examples.ts'
import { Id, IdInput, idList } from './id.ts'
import { FollowUpMessage, MessagePayload, messageBodyLimit } from './message.ts'
import { page, pageQuery } from './page.ts'
import { TimestampInput } from './time.ts'

/* The calls that read the event log, follow it, and write messages and answers into it. */

export const EventPage = page(Event).meta({ id: 'EventPage' })
export type EventPage = z.infer<typeof EventPage>

const OfConversation = z.object({ id: IdInput })
const filters = {
  kind__eq: EventKind.optional(),
  source__eq: EventSource.optional(),
  timestamp__gte: TimestampInput.optional(),
  timestamp__lt: TimestampInput.optional(),
}
/** Where a live channel begins: after this number. 0 is the beginning; absent: what is new from now on. */
const LiveQuery = z.object({ after_seq: z.coerce.number().int().min(0).optional() })

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
    seq__gt: z.coerce.number().int().min(0).optional(),
    sort_order: z.enum(['TIMESTAMP', 'TIMESTAMP_DESC']).default('TIMESTAMP'),
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

/** The answer to a message: it is in the log when this is answered. */
export const MessageAccepted = z
  .object({
    success: z.literal(true),
    event_id: Id,
    seq: z.int().positive(),
    sandbox_status: z.enum(['STARTING', 'RUNNING', 'PAUSED']),
    message: z.string().nullable(),
  })
  .meta({ id: 'MessageAccepted' })
export type MessageAccepted = z.infer<typeof MessageAccepted>

const exampleMessage = { role: 'user', content: [{ type: 'text', text: 'Say hello.' }], run: true }
const exampleAccepted = {
  success: true,
  event_id: exampleEvent.id,
  seq: 2,
  sandbox_status: 'RUNNING',
  message: null,
} as const

export const postMessage = endpoint({
  method: 'POST',
  path: '/api/v1/conversation/{id}/events',
  summary: 'Send a message to a conversation',
  description: 'Appends the message to the log; with `run` the agent works on it. A paused sandbox resumes by itself.',
  access: 'events:write',
  params: OfConversation,
  body: MessagePayload,
  bodyLimit: messageBodyLimit,
  returns: MessageAccepted,
  fails: ['not_found', 'malformed_id', 'state_conflict', 'gone'],
  example: { body: exampleMessage, returns: exampleAccepted },
})

export const sendMessage = endpoint({
  method: 'POST',
  path: '/api/v1/app-conversations/{id}/send-message',
  summary: 'Send a follow-up message',
  description: 'The same as posting an event, except that the agent works on the message unless `run` is false.',
  access: 'events:write',
  params: OfConversation,
  body: FollowUpMessage,
  bodyLimit: messageBodyLimit,
  returns: MessageAccepted,
  fails: ['not_found', 'malformed_id', 'state_conflict', 'gone'],
  example: { body: exampleMessage, returns: exampleAccepted },
})

export const ConfirmationAnswer = z
  .object({
    accept: z.boolean(),
    reason: z.string().max(10_000).default('User rejected the action.'),
  })
  .meta({ id: 'ConfirmationAnswer' })
export type ConfirmationAnswer = z.infer<typeof ConfirmationAnswer>

export const respondToConfirmation = endpoint({
  method: 'POST',
  path: '/api/v1/conversation/{id}/events/respond_to_confirmation',
  summary: 'Accept or reject the pending actions',
  description: 'Accepting runs them; rejecting records the reason for each of them and leaves the conversation idle.',
  access: 'events:write',
  params: OfConversation,
  body: ConfirmationAnswer,
  returns: z.object({ success: z.literal(true) }),
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
  returns: z.looseObject({ kind: z.string() }),
  answer: 'sse',
  fails: ['not_found', 'malformed_id', 'unavailable'],
  example: { returns: exampleEvent },
})

export const eventSocket = endpoint({
  method: 'GET',
  path: '/api/v1/conversation/{id}/events/socket',
  summary: 'Follow and answer a conversation over a WebSocket',
  description:
    'One event per frame. Credentials come in a header, a cookie or, within 10 s, the first frame ' +
    '`{"type":"auth","api_key":"…"}`. A frame with a message object posts it and runs the agent. ' +
    'Close codes: 4001 not authenticated, 4004 unknown conversation, 1013 too many viewers.',
  access: 'open',
  params: OfConversation,
  query: z.object({
    ...LiveQuery.shape,
    resend_mode: z.enum(['all', 'since']).optional(),
    after_timestamp: TimestampInput.optional(),
    after_id: IdInput.optional(),
  }),
  returns: z.looseObject({ kind: z.string() }),
  answer: 'socket',
  fails: ['not_found', 'malformed_id'],
  example: { returns: exampleEvent },
})
