import { z } from 'zod'
import { described } from './described.ts'
import { endpoint } from './endpoint.ts'
import { exampleIds, exampleTime } from './examples.ts'
import { Id, IdInput, idList } from './id.ts'
import { messageBodyLimit } from './message.ts'
import { page, pageQuery } from './page.ts'
import { StartRequest, StartRequestEcho } from './start-request.ts'
import { Timestamp, TimestampInput } from './time.ts'

/** In the order in which a start goes through them; none is skipped. `ERROR` can follow each but `READY`. */
export const startTaskStatuses = [
  'WORKING',
  'WAITING_FOR_SANDBOX',
  'PREPARING_REPOSITORY',
  'RUNNING_SETUP_SCRIPT',
  'SETTING_UP_GIT_HOOKS',
  'SETTING_UP_SKILLS',
  'STARTING_CONVERSATION',
  'READY',
  'ERROR',
] as const
export const StartTaskStatus = z
  .enum(startTaskStatuses)
  .meta({ id: 'StartTaskStatus', description: 'In this order, none skipped; `ERROR` can follow each but `READY`.' })
export type StartTaskStatus = z.infer<typeof StartTaskStatus>

/** True when the start is over. */
export const startEnded = (status: StartTaskStatus): boolean => status === 'READY' || status === 'ERROR'

/** The statuses that can follow `status`. */
export function startStatusesAfter(status: StartTaskStatus): readonly StartTaskStatus[] {
  if (startEnded(status)) return []
  const next = startTaskStatuses[startTaskStatuses.indexOf(status) + 1]
  return next === undefined ? [] : [next, 'ERROR']
}

/** A start that goes on in the background. The three addresses of its result are null until `READY`. */
export const StartTask = z
  .object(
    described(
      {
        id: Id,
        created_by_user_id: z.string().nullable(),
        request: StartRequestEcho,
        status: StartTaskStatus.default('WORKING'),
        detail: z.string().nullable(),
        app_conversation_id: Id.nullable(),
        sandbox_id: Id.nullable(),
        agent_server_url: z.string().nullable(),
        created_at: Timestamp,
        updated_at: Timestamp,
      },
      {
        request: 'What was asked for, with what was filled in, without secrets.',
        detail: 'Why the start failed, when the status is ERROR.',
        app_conversation_id: 'The conversation; null until READY.',
        sandbox_id: 'Its sandbox; null until READY.',
        agent_server_url: 'Where its live calls answer; null until READY.',
        created_by_user_id: 'Whose it is.',
      },
    ),
  )
  .meta({ id: 'StartTask' })
export type StartTask = z.infer<typeof StartTask>

export const StartTaskPage = page(StartTask).meta({ id: 'StartTaskPage' })
export type StartTaskPage = z.infer<typeof StartTaskPage>

const exampleBody = {
  initial_message: { content: [{ type: 'text', text: 'Add a test for the parser.' }] },
  selected_repository: 'ada/engine',
  selected_branch: 'main',
}
const exampleTask = {
  id: exampleIds.task,
  created_by_user_id: exampleIds.user,
  request: {
    sandbox_id: null,
    conversation_id: null,
    initial_message: {
      role: 'user',
      content: [{ type: 'text', text: 'Add a test for the parser.', cache_prompt: false }],
      run: false,
    },
    system_message_suffix: null,
    processors: null,
    llm_model: null,
    selected_repository: 'ada/engine',
    selected_branch: 'main',
    git_provider: null,
    suggested_task: null,
    title: null,
    trigger: 'service_api',
    pr_number: [],
    parent_conversation_id: null,
    agent_type: 'default',
    public: null,
    plugins: null,
    tags: null,
    hook_config: null,
  },
  status: 'WORKING',
  detail: null,
  app_conversation_id: null,
  sandbox_id: null,
  agent_server_url: null,
  created_at: exampleTime,
  updated_at: exampleTime,
}
const startFails = [
  'not_found',
  'conversation_exists',
  'state_conflict',
  'repository_not_accessible',
  'forge_not_connected',
  'processor_not_allowed',
  'capacity',
] as const

export const startConversation = endpoint({
  method: 'POST',
  path: '/api/v1/app-conversations',
  summary: 'Start a conversation',
  description: 'Answers at once with a start task; the conversation is usable when the task is READY.',
  access: 'conversations:write',
  body: StartRequest,
  bodyLimit: messageBodyLimit,
  returns: StartTask,
  fails: startFails,
  example: { body: exampleBody, returns: exampleTask },
})

export const streamStart = endpoint({
  method: 'POST',
  path: '/api/v1/app-conversations/stream-start',
  summary: 'Start a conversation and follow the start',
  description:
    'A JSON array written element by element: the whole start task at each change of status, the last one READY or ' +
    'ERROR. The start goes on when the connection is cut.',
  access: 'conversations:write',
  body: StartRequest,
  bodyLimit: messageBodyLimit,
  returns: StartTask,
  answer: 'json-array',
  fails: startFails,
  example: { body: exampleBody, returns: exampleTask },
})

export const getStartTasks = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/start-tasks',
  summary: 'Get start tasks by id',
  description: 'Always an array in the order of the ids; null for a task that does not exist.',
  access: 'conversations:read',
  query: z.object({ ids: idList(100) }),
  returns: z.array(StartTask.nullable()),
  fails: ['malformed_id', 'too_many_ids'],
  example: { returns: [exampleTask] },
})

const filters = {
  conversation_id__eq: IdInput.optional(),
  created_at__gte: TimestampInput.optional(),
  created_at__lt: TimestampInput.optional(),
  status__eq: StartTaskStatus.optional().meta({ description: 'Only those that are here.' }),
}

export const searchStartTasks = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/start-tasks/search',
  summary: 'Search start tasks',
  description: 'A conversation id matches the conversation that was made and the one that was asked for.',
  access: 'conversations:read',
  query: z.object({
    ...filters,
    sort_order: z
      .enum(['CREATED_AT', 'CREATED_AT_DESC', 'UPDATED_AT', 'UPDATED_AT_DESC'])
      .default('CREATED_AT_DESC')
      .meta({ description: 'The id decides between equals.' }),
    ...pageQuery(100),
  }),
  returns: StartTaskPage,
  fails: ['malformed_page_id'],
  example: { returns: { items: [exampleTask], next_page_id: null } },
})

export const countStartTasks = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/start-tasks/count',
  summary: 'Count start tasks',
  description: 'How many tasks the same filters would find.',
  access: 'conversations:read',
  query: z.object(filters),
  returns: z.int().min(0),
  example: { returns: 3 },
})

/** Of so many characters the last are kept. */
export const startOutputKept = 20_000

/** How far a start has come, and what the step that runs or that failed has printed last. Empty once it is READY. */
export const StartLog = z
  .object(
    described(
      {
        status: StartTaskStatus,
        steps: z.array(
          z.object({
            status: StartTaskStatus,
            at: Timestamp,
            detail: z.string().nullable().meta({ description: 'What happened, in words.' }),
          }),
        ),
        output: z.string(),
      },
      {
        status: 'Where the start is.',
        steps: 'When each status was reached.',
        output: 'The last that the step which runs or failed has printed; empty once it is READY.',
      },
    ),
  )
  .meta({ id: 'StartLog' })
export type StartLog = z.infer<typeof StartLog>

export const getStartLog = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/start-tasks/{id}/log',
  summary: 'Get the log of a start',
  description:
    'When each status was reached, and the last 20,000 characters that the clone or the setup script has printed, both ' +
    'streams together, without the values of known secrets. The output may be half a second old.',
  access: 'conversations:read',
  params: z.object({ id: IdInput }),
  returns: StartLog,
  fails: ['not_found', 'malformed_id'],
  example: {
    returns: {
      status: 'PREPARING_REPOSITORY',
      steps: [
        { status: 'WORKING', at: exampleTime, detail: null },
        { status: 'WAITING_FOR_SANDBOX', at: exampleTime, detail: null },
        { status: 'PREPARING_REPOSITORY', at: exampleTime, detail: null },
      ],
      output: "Cloning into 'engine' …\n",
    },
  },
})

export const cancelStartTask = endpoint({
  method: 'POST',
  path: '/api/v1/app-conversations/start-tasks/{id}/cancel',
  summary: 'Cancel a start',
  description: 'Ends a start that is under way in ERROR and removes the sandbox it made. A start that has ended stays.',
  access: 'conversations:write',
  params: z.object({ id: IdInput }),
  returns: StartTask,
  fails: ['not_found', 'malformed_id', 'state_conflict'],
  example: { returns: { ...exampleTask, status: 'ERROR', detail: 'Start cancelled.' } },
})
