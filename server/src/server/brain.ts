import { checkpointsOf } from '../conversations/checkpoints/save.ts'
import { checkpointStore } from '../conversations/checkpoints/store.ts'
import { insightStore } from '../conversations/insight-store.ts'
import { insightOf } from '../conversations/insight.ts'
import { liveHub } from '../conversations/live.ts'
import { groupedAppends } from '../conversations/log/group.ts'
import { recentEvents } from '../conversations/log/recent.ts'
import { logStore } from '../conversations/log/store.ts'
import { reachOf } from '../conversations/reach.ts'
import { conversationRoutes } from '../conversations/routes.ts'
import { keptRuns } from '../conversations/run/kept.ts'
import { runJobKind } from '../conversations/run/run.ts'
import { sandboxNews } from '../conversations/sandbox-news.ts'
import { type Conversations, conversationService } from '../conversations/service.ts'
import { sideQuestions } from '../conversations/side-question.ts'
import { commonRepositories } from '../conversations/skills/common-repositories.ts'
import { skillStore } from '../conversations/skills/store.ts'
import { type StartTasks, startTasks } from '../conversations/start/start-tasks.ts'
import { startJobKind } from '../conversations/start/start.ts'
import { startSteps } from '../conversations/start/steps.ts'
import { type StartTaskStore, startTaskStore } from '../conversations/start/store.ts'
import { type ConversationStore, conversationStore } from '../conversations/store.ts'
import { terminals } from '../conversations/terminal.ts'
import { runJob, startJob } from '../conversations/topics.ts'
import { workspaceRoutes } from '../conversations/workspace-routes.ts'
import { eventRoutes } from '../events/routes.ts'
import { eventService } from '../events/service.ts'
import { eventSockets } from '../events/socket.ts'
import { eventStore } from '../events/store.ts'
import type { Belongings } from './belongings.ts'
import type { Foundation } from './foundation.ts'
import type { Hands } from './hands.ts'

type Parts = Foundation & Pick<Belongings, 'git' | 'settings' | 'secrets'> & Pick<Hands, 'sandboxes'>

export type Brain = ReturnType<typeof openBrain>

/** Conversations: their starts and runs as durable jobs, their logs, and what may be read of their work. */
export function openBrain(parts: Parts) {
  const { database, said, sandboxes } = parts
  const { limits } = parts.config
  const store = conversationStore(database)
  const taskRows = startTaskStore(database)
  const insights = insightStore(database)
  const logs = logStore(database)
  const tasks = startTasks({ ...parts, store: taskRows, deadlineMs: limits.start.deadline })
  const checkpoints = checkpointsOf({
    store: checkpointStore(database),
    sandboxes,
    limits,
    tell: (conversation, event) => conversations.tell(conversation, event),
    log: said,
  })
  sandboxes.beforeLeaving(checkpoints.saveAll)
  const work = {
    ...parts,
    store,
    insights,
    logs,
    append: groupedAppends(logs),
    recent: recentEvents(),
    live: liveHub(),
    kept: keptRuns(),
    checkpoints,
  }
  const conversations = conversationService({ ...work, taskRows, tasks })
  if (parts.config.role !== 'api') registerJobs({ ...work, taskRows, tasks })
  const reach = reachOf({ sandboxes, checkpoints })
  const routes = () => [
    ...conversationRoutes(conversations, tasks, reach),
    ...workspaceRoutes({
      conversations,
      reach,
      insight: insightOf({ store: insights, conversations, checkpoints, sandboxes }),
      logs,
      terminals: terminals({ sandboxes }),
      askAside: sideQuestions(work),
    }),
    ...eventCalls(parts, conversations),
  ]
  const tellSandbox = sandboxNews({ store, append: conversations.append, log: said })
  return { conversations, tasks, checkpoints, kept: work.kept, tellSandbox, routes }
}

type JobParts = Omit<Parameters<typeof runJobKind>[0], 'follow' | 'log'> &
  Parts & { store: ConversationStore; taskRows: StartTaskStore; tasks: StartTasks }

/** What the workers of this replica take on. */
function registerJobs({ store: conversations, taskRows: store, tasks, ...parts }: JobParts): void {
  const { config, database, jobs, sandboxes, follow, said: log } = parts
  const { limits } = config
  const steps = startSteps({
    ...parts,
    common: commonRepositories(parts),
    skills: skillStore(database),
    store,
    conversations,
    limits,
  })
  jobs.register(
    startJob,
    startJobKind({ store, tasks, steps, limits, clock: parts.clock, discard: sandboxes.discard, log }),
  )
  jobs.register(runJob, runJobKind({ ...parts, store: conversations, follow: follow as typeof fetch, log }))
}

function eventCalls({ database, cursor }: Parts, conversations: Conversations) {
  const events = eventService({ store: eventStore(database), conversations, cursor })
  return eventRoutes(events, conversations, eventSockets({ events, conversations }))
}
