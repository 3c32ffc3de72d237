import {
  countSharedEvents,
  getSharedConversations,
  getSharedEvent,
  getSharedEvents,
  searchSharedEvents,
} from '@parley/contract/shared'
import { serve } from '@parley/wire/serve'
import type { Shared } from './service.ts'

export const sharedRoutes = (shared: Shared) => [
  serve(getSharedConversations, ({ query }) => shared.conversations(query.ids)),
  serve(searchSharedEvents, ({ query }) => shared.search(query)),
  serve(countSharedEvents, ({ query }) => shared.count(query)),
  serve(getSharedEvents, ({ query }) => shared.events(query.conversation_id, query.ids)),
  serve(getSharedEvent, ({ params }) => shared.event(params.conversation_id, params.event_id)),
]
