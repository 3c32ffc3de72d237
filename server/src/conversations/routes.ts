import { forkConversation } from '@parley/contract/conversation-insight'
import {
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
  getStartTasks,
  searchStartTasks,
  startConversation,
  streamStart,
} from '@parley/contract/start-tasks'
import { getGitDiff, listGitChanges } from '@parley/contract/workspace'
import { unchanged } from '@parley/wire/precondition'
import { serve } from '@parley/wire/serve'
import type { Reach } from './reach.ts'
import type { Conversations } from './service.ts'
import type { StartTasks } from './start/start-tasks.ts'

export const conversationRoutes = (conversations: Conversations, tasks: StartTasks, reach: Reach) => [
  serve(startConversation, ({ who, body }) => conversations.begin(who, body)),
  serve(streamStart, async ({ who, body, request }) => {
    const task = await conversations.begin(who, body)
    return tasks.follow(task.id, request.signal)
  }),
  serve(getStartTasks, ({ who, query }) => tasks.many(who.owner, query.ids)),
  serve(searchStartTasks, ({ who, query }) => tasks.search(who.owner, query)),
  serve(countStartTasks, ({ who, query }) => tasks.count(who.owner, query)),
  serve(cancelStartTask, ({ who, params }) => tasks.cancel(who.owner, params.id)),

  serve(searchConversations, ({ who, query }) => conversations.search(who.owner, query)),
  serve(countConversations, ({ who, query }) => conversations.count(who.owner, query)),
  serve(getConversations, ({ who, query }) => conversations.many(who.owner, query.ids)),
  serve(getConversation, ({ who, params }) => conversations.get(who.owner, params.id)),
  serve(updateConversation, ({ who, params, body, request }) =>
    conversations.update(who.owner, params.id, body, unchanged(request, getConversation)),
  ),
  serve(deleteConversation, ({ who, params }) => conversations.remove(who.owner, params.id)),

  serve(forkConversation, ({ who, params, body, request }) =>
    conversations.fork(who.owner, params.id, body, request.signal),
  ),
  serve(resumeConversation, ({ who, params }) => conversations.resume(who.owner, params.id)),
  serve(runConversation, ({ who, params }) => conversations.run(who.owner, params.id)),
  serve(pauseConversation, ({ who, params }) => conversations.pause(who.owner, params.id)),
  serve(interruptConversation, ({ who, params }) => conversations.interrupt(who.owner, params.id)),
  serve(queueMessage, ({ who, params, body }) => conversations.queue(who.owner, params.id, body.content)),

  serve(listGitChanges, async ({ who, params, query, request }) =>
    reach.changes(await conversations.own(who.owner, params.id), query, request.signal),
  ),
  serve(getGitDiff, async ({ who, params, query, request }) =>
    reach.diff(await conversations.own(who.owner, params.id), query, request.signal),
  ),
]
