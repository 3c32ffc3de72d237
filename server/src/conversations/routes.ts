import { forkConversation } from '@parley/contract/conversation-insight'
import {
  condenseConversation,
  countConversations,
  deleteConversation,
  getConversation,
  getConversations,
  interruptConversation,
  pauseConversation,
  resumeConversation,
  runConversation,
  searchConversations,
  updateConversation,
} from '@parley/contract/conversations'
import { queueMessage } from '@parley/contract/pending-messages'
import {
  cancelStartTask,
  countStartTasks,
  getStartLog,
  getStartTasks,
  searchStartTasks,
  startConversation,
  streamStart,
} from '@parley/contract/start-tasks'
import { getGitDiff, listGitChanges } from '@parley/contract/workspace'
import { unchanged } from '@parley/wire/precondition'
import { atOnce, serve } from '@parley/wire/serve'
import type { Reach } from './reach.ts'
import type { Conversations } from './service.ts'
import type { StartTasks } from './start/start-tasks.ts'

export const conversationRoutes = (conversations: Conversations, tasks: StartTasks, reach: Reach) => [
  serve(startConversation, ({ who, body, onceId }) => conversations.begin(who, body, onceId)),
  serve(streamStart, async ({ who, body, request, onceId }) => {
    const task = await conversations.begin(who, body, onceId)
    return tasks.follow(task.id, request.signal)
  }),
  serve(getStartTasks, ({ who, query }) => tasks.many(who.owner, query.ids)),
  serve(searchStartTasks, ({ who, query }) => tasks.search(who.owner, query)),
  serve(countStartTasks, ({ who, query }) => tasks.count(who.owner, query)),
  serve(getStartLog, ({ who, params }) => tasks.log(who.owner, params.id)),
  serve(cancelStartTask, ({ who, params }) => tasks.cancel(who.owner, params.id)),

  serve(searchConversations, ({ who, query }) => conversations.search(who.owner, query)),
  serve(countConversations, ({ who, query }) => conversations.count(who.owner, query)),
  serve(getConversations, ({ who, query }) => conversations.many(who.owner, query.ids)),
  serve(getConversation, ({ who, params }) => conversations.get(who.owner, params.id)),
  serve(updateConversation, ({ who, params, body, request }) =>
    conversations.update(who.owner, params.id, body, unchanged(request, getConversation)),
  ),
  atOnce(serve(deleteConversation, ({ who, params }) => conversations.remove(who.owner, params.id))),

  serve(forkConversation, ({ who, params, body, request, onceId }) =>
    conversations.fork(who.owner, params.id, body, request.signal, onceId),
  ),
  serve(resumeConversation, ({ who, params, onceId }) => conversations.resume(who.owner, params.id, onceId)),
  serve(runConversation, ({ who, params, onceId }) => conversations.run(who.owner, params.id, onceId)),
  serve(pauseConversation, ({ who, params, onceId }) => conversations.pause(who.owner, params.id, onceId)),
  serve(interruptConversation, ({ who, params, onceId }) => conversations.interrupt(who.owner, params.id, onceId)),
  serve(condenseConversation, ({ who, params, onceId }) => conversations.condense(who.owner, params.id, onceId)),
  serve(queueMessage, ({ who, params, body, onceId }) =>
    conversations.queue(who.owner, params.id, body.content, onceId),
  ),

  serve(listGitChanges, async ({ who, params, query, request }) =>
    reach.changes(await conversations.own(who.owner, params.id), query, request.signal),
  ),
  serve(getGitDiff, async ({ who, params, query, request }) =>
    reach.diff(await conversations.own(who.owner, params.id), query, request.signal),
  ),
]
