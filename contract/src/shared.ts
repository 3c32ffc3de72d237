import { z } from 'zod'
import { AppConversation, exampleConversation } from './conversations.ts'
import { endpoint } from './endpoint.ts'
import { eventFilters, eventOrder, EventPage, exampleEvent } from './event-calls.ts'
import { Event, type EventKind } from './events.ts'
import { IdInput, idList } from './id.ts'
import { pageQuery } from './page.ts'

/*
 * Conversations that their owner made public, read without a key. What is not public looks exactly like what does not
 * exist. Addresses, statuses, labels and keys are left out, and there is no list of what is shared.
 */

export const SharedConversation = AppConversation.omit({
  trigger: true,
  public: true,
  tags: true,
  sandbox_status: true,
  execution_status: true,
  status_reason: true,
  error: true,
  last_seq: true,
  conversation_url: true,
  session_api_key: true,
  agent_kind: true,
  sandbox_id: true,
  created_by_user_id: true,
  forked_from_conversation_id: true,
}).meta({ id: 'SharedConversation' })
export type SharedConversation = z.infer<typeof SharedConversation>

/** Kinds that a stranger may see. */
export const sharedKinds = [
  'MessageEvent',
  'ActionEvent',
  'ObservationEvent',
  'UserRejectObservation',
  'AgentErrorEvent',
  'PauseEvent',
  'InterruptEvent',
  'CondensationSummaryEvent',
] as const satisfies readonly EventKind[]

const exampleShared = SharedConversation.parse(exampleConversation)
const filters = { conversation_id: IdInput, ...eventFilters }

export const getSharedConversations = endpoint({
  method: 'GET',
  path: '/api/shared-conversations',
  summary: 'Get public conversations by id',
  description: 'In the order of the ids; null for a conversation that does not exist or is not public.',
  access: 'open',
  query: z.object({ ids: idList(100) }),
  returns: z.array(SharedConversation.nullable()),
  fails: ['malformed_id', 'too_many_ids'],
  example: { returns: [exampleShared, null] },
})

export const searchSharedEvents = endpoint({
  method: 'GET',
  path: '/api/shared-events/search',
  summary: 'Search the events of a public conversation',
  description: 'Messages, actions and what came of them; a page is full unless it is the last one.',
  access: 'open',
  query: z.object({
    ...filters,
    sort_order: eventOrder,
    ...pageQuery(100),
  }),
  returns: EventPage,
  fails: ['not_found', 'malformed_id', 'malformed_page_id'],
  example: { returns: { items: [exampleEvent], next_page_id: null } },
})

export const countSharedEvents = endpoint({
  method: 'GET',
  path: '/api/shared-events/count',
  summary: 'Count the events of a public conversation',
  description: 'How many events the same filters would find.',
  access: 'open',
  query: z.object(filters),
  returns: z.int().min(0),
  fails: ['not_found', 'malformed_id'],
  example: { returns: 12 },
})

export const getSharedEvents = endpoint({
  method: 'GET',
  path: '/api/shared-events',
  summary: 'Get events of a public conversation by id',
  description: 'In the order of the ids; null for an event that may not be seen.',
  access: 'open',
  query: z.object({ conversation_id: IdInput, ids: idList(100) }),
  returns: z.array(Event.nullable()),
  fails: ['not_found', 'malformed_id', 'too_many_ids'],
  example: { returns: [exampleEvent, null] },
})

export const getSharedEvent = endpoint({
  method: 'GET',
  path: '/api/shared-events/{conversation_id}/{event_id}',
  summary: 'Get one event of a public conversation',
  description: 'Null for an event that may not be seen.',
  access: 'open',
  params: z.object({ conversation_id: IdInput, event_id: IdInput }),
  returns: Event.nullable(),
  fails: ['malformed_id'],
  example: { returns: exampleEvent },
})
