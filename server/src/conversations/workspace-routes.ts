import { askConversation, explainConversation, getFinalResponse } from '@parley/contract/conversation-insight'
import { openTerminal } from '@parley/contract/terminal'
import {
  downloadFile,
  downloadTrajectory,
  downloadWorkspace,
  listConversationHooks,
  listConversationSkills,
  listFiles,
  readFile,
  uploadFiles,
} from '@parley/contract/workspace'
import { serve } from '@parley/wire/serve'
import type { Insight } from './insight.ts'
import type { LogStore } from './log/store.ts'
import type { Reach } from './reach.ts'
import type { Conversations } from './service.ts'
import type { AskAside } from './side-question.ts'
import type { Terminals } from './terminal.ts'
import { trajectoryOf } from './trajectory.ts'

interface Parts {
  conversations: Conversations
  reach: Reach
  insight: Insight
  logs: LogStore
  terminals: Terminals
  askAside: AskAside
}

export const workspaceRoutes = ({ conversations, reach, insight, logs, terminals, askAside }: Parts) => [
  serve(listFiles, async ({ who, params, query, request }) =>
    reach.list(await conversations.own(who.owner, params.id), query, request.signal),
  ),
  serve(readFile, async ({ who, params, query, request }) =>
    reach.read(await conversations.own(who.owner, params.id), query.file_path, request.signal),
  ),
  serve(downloadFile, async ({ who, params, query, request }) =>
    reach.download(await conversations.own(who.owner, params.id), query.path, request.signal),
  ),
  serve(downloadWorkspace, async ({ who, params, request }) =>
    reach.archive(await conversations.own(who.owner, params.id), request.signal),
  ),
  serve(uploadFiles, async ({ who, params, query, request }) =>
    reach.upload(await conversations.own(who.owner, params.id), query.path, request),
  ),
  serve(downloadTrajectory, async ({ who, params }) =>
    trajectoryOf(await conversations.get(who.owner, params.id), logs),
  ),
  serve(listConversationSkills, async ({ who, params }) =>
    conversations.skills.list((await conversations.own(who.owner, params.id)).id),
  ),
  serve(listConversationHooks, async ({ who, params }) =>
    conversations.skills.hooks((await conversations.own(who.owner, params.id)).id),
  ),
  serve(openTerminal, async ({ who, params, query, socket }) =>
    terminals.attend(await conversations.own(who.owner, params.id), query, socket),
  ),
  serve(askConversation, async ({ who, params, body, request }) =>
    askAside((await conversations.own(who.owner, params.id)).id, body.question, request.signal),
  ),
  serve(explainConversation, ({ who, params }) => insight.why(who.owner, params.id)),
  serve(getFinalResponse, ({ who, params }) => insight.finalResponse(who.owner, params.id)),
]
