import {
  countEvents,
  eventSocket,
  getEvents,
  respondToConfirmation,
  searchEvents,
  streamEvents,
} from '@parley/contract/event-calls'
import { postMessage, sendMessage } from '@parley/contract/message'
import { serve } from '@parley/wire/serve'
import type { Conversations } from '../conversations/service.ts'
import { startAfter } from './cursor.ts'
import type { Events } from './service.ts'
import type { EventSocket } from './socket.ts'

export const eventRoutes = (events: Events, conversations: Conversations, sockets: EventSocket) => [
  serve(searchEvents, ({ who, params, query }) => events.search(who.owner, params.id, query)),
  serve(countEvents, ({ who, params, query }) => events.count(who.owner, params.id, query)),
  serve(getEvents, ({ who, params, query }) => events.many(who.owner, params.id, query.ids)),
  serve(postMessage, ({ who, params, body, onceId }) => conversations.message(who.owner, params.id, body, onceId)),
  serve(sendMessage, ({ who, params, body, onceId }) => conversations.message(who.owner, params.id, body, onceId)),
  serve(respondToConfirmation, ({ who, params, body, onceId }) =>
    conversations.respond(who.owner, params.id, body, onceId),
  ),
  serve(streamEvents, ({ who, params, query, request }) =>
    events.follow(who.owner, params.id, startAfter(query.after_seq, request.header('last-event-id')), request.signal),
  ),
  serve(eventSocket, (call) => sockets.attend(call)),
]
