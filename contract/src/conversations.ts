import { z } from 'zod'
import { described, done } from './described.ts'
import { endpoint } from './endpoint.ts'
import { exampleIds, exampleTime } from './examples.ts'
import { ExecutionStatus } from './execution.ts'
import { BranchName, RepositoryName } from './git-names.ts'
import { GitProvider, GitProviderInput } from './git-provider.ts'
import { Id, IdInput, idList } from './id.ts'
import { Failure, Metrics } from './metrics.ts'
import { QueryBoolean, page, pageQuery } from './page.ts'
import { SandboxStatus } from './sandboxes.ts'
import { AgentType, Trigger } from './start-request.ts'
import { TagFilter, Tags, TagsInput } from './tags.ts'
import { TitleInput } from './text.ts'
import { Timestamp, TimestampInput } from './time.ts'

/**
 * A conversation. `execution_status` is null unless the sandbox is RUNNING; `status_reason` and `error` say why it is
 * where it is; `last_seq` is the number of its newest event.
 */
export const AppConversation = z
  .object(
    described(
      {
        id: Id,
        created_by_user_id: z.string().nullable(),
        sandbox_id: Id.nullable(),
        selected_repository: z.string().nullable(),
        selected_branch: z.string().nullable(),
        git_provider: GitProvider.nullable(),
        title: z.string().nullable(),
        trigger: Trigger.nullable(),
        pr_number: z.array(z.int()),
        llm_model: z.string().nullable(),
        agent_kind: z.string(),
        agent_type: AgentType,
        metrics: Metrics.nullable(),
        parent_conversation_id: Id.nullable(),
        sub_conversation_ids: z.array(Id),
        forked_from_conversation_id: Id.nullable(),
        public: z.boolean().nullable(),
        tags: Tags,
        created_at: Timestamp,
        updated_at: Timestamp,
        sandbox_status: SandboxStatus,
        execution_status: ExecutionStatus.nullable(),
        status_reason: z.string().nullable(),
        error: Failure.nullable(),
        last_seq: z.int().min(0),
        conversation_url: z.string().nullable(),
        session_api_key: z.string().nullable(),
      },
      {
        created_by_user_id: 'Whose it is.',
        sandbox_id: 'The sandbox that holds it, or held it.',
        selected_repository: '`owner/name`.',
        selected_branch: 'As the start asked for it.',
        title: 'Given, or made from the first message.',
        pr_number: 'Pull requests that it is about.',
        llm_model: 'The model in use.',
        agent_kind: 'The family of the agent.',
        metrics: 'What it has used and cost so far.',
        sub_conversation_ids: 'Its sub-conversations, oldest first.',
        public: 'Whether everybody may read it without a key.',
        sandbox_status: 'MISSING when the sandbox is gone.',
        execution_status: 'Null unless the sandbox is RUNNING.',
        status_reason: 'Why the status is what it is, in words.',
        error: 'What went wrong, when the status is `error`.',
        last_seq: 'Number of its newest event.',
        conversation_url: 'Where its live calls answer.',
        session_api_key: 'Always null here: a key of a sandbox is shown once, when it is made.',
        git_provider: 'Where the repository is.',
        trigger: 'What made it start.',
        agent_type: '`plan`: an agent that reads, and writes one file with a plan.',
        parent_conversation_id: 'Of a sub-conversation; else null.',
        forked_from_conversation_id: 'The conversation that it was forked from; else null.',
      },
    ),
  )
  .meta({ id: 'AppConversation' })
export type AppConversation = z.infer<typeof AppConversation>

export const AppConversationPage = page(AppConversation).meta({ id: 'AppConversationPage' })
export type AppConversationPage = z.infer<typeof AppConversationPage>

export const conversationSortOrders = [
  'CREATED_AT',
  'CREATED_AT_DESC',
  'UPDATED_AT',
  'UPDATED_AT_DESC',
  'TITLE',
  'TITLE_DESC',
] as const
export type ConversationSortOrder = (typeof conversationSortOrders)[number]

const OneConversation = z.object({ id: IdInput })
const filters = {
  title__contains: z.string().max(200).optional().meta({ description: 'Part of the title, in any case.' }),
  created_at__gte: TimestampInput.optional(),
  created_at__lt: TimestampInput.optional(),
  updated_at__gte: TimestampInput.optional(),
  updated_at__lt: TimestampInput.optional(),
  sandbox_id__eq: IdInput.optional(),
  selected_repository__eq: RepositoryName.optional(),
  trigger__eq: Trigger.optional().meta({ description: 'Only those that were started by this.' }),
  execution_status__eq: ExecutionStatus.optional().meta({ description: 'Only those in this state.' }),
  tag__eq: TagFilter.optional().meta({ description: 'A label: its key, or key and value as `team:parsers`.' }),
  include_sub_conversations: QueryBoolean.default(false).meta({
    description: 'Whether sub-conversations are found too.',
  }),
}

export const exampleConversation = {
  id: exampleIds.conversation,
  created_by_user_id: exampleIds.user,
  sandbox_id: exampleIds.sandbox,
  selected_repository: 'ada/engine',
  selected_branch: 'main',
  git_provider: 'forge_a',
  title: 'Add a test for the parser',
  trigger: 'service_api',
  pr_number: [],
  llm_model: 'parley/demo',
  agent_kind: 'parley',
  agent_type: 'default',
  metrics: { model_name: 'parley/demo', accumulated_cost: 0, max_budget_per_task: null, accumulated_token_usage: null },
  parent_conversation_id: null,
  sub_conversation_ids: [],
  forked_from_conversation_id: null,
  public: null,
  tags: {},
  created_at: exampleTime,
  updated_at: exampleTime,
  sandbox_status: 'RUNNING',
  execution_status: 'running',
  status_reason: null,
  error: null,
  last_seq: 12,
  conversation_url: `https://parley.example/api/v1/conversation/${exampleIds.conversation}`,
  session_api_key: null,
}

export const searchConversations = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/search',
  summary: 'Search conversations',
  description:
    'The caller\u2019s conversations, newest first unless said. Sub-conversations are left out unless asked for.',
  access: 'conversations:read',
  query: z.object({
    ...filters,
    sort_order: z
      .enum(conversationSortOrders)
      .default('CREATED_AT_DESC')
      .meta({ description: 'The id decides between equals.' }),
    ...pageQuery(100),
  }),
  returns: AppConversationPage,
  fails: ['malformed_page_id'],
  example: { returns: { items: [exampleConversation], next_page_id: null } },
})

export const countConversations = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/count',
  summary: 'Count conversations',
  description: 'How many conversations the same filters would find.',
  access: 'conversations:read',
  query: z.object(filters),
  returns: z.int().min(0),
  example: { returns: 7 },
})

export const getConversations = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations',
  summary: 'Get conversations by id',
  description: 'In the order of the ids; null for a conversation that does not exist.',
  access: 'conversations:read',
  query: z.object({ ids: idList(100) }),
  returns: z.array(AppConversation.nullable()),
  fails: ['malformed_id', 'too_many_ids'],
  example: { returns: [exampleConversation, null] },
})

export const getConversation = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/{id}',
  summary: 'Get a conversation',
  description: 'One conversation of the caller.',
  access: 'conversations:read',
  params: OneConversation,
  returns: AppConversation,
  etag: true,
  fails: ['not_found', 'malformed_id'],
  example: { returns: exampleConversation },
})

/** Only fields that are present change; null clears. */
export const ConversationUpdate = z
  .object(
    described(
      {
        title: TitleInput.nullable().optional(),
        public: z.boolean().nullable().optional(),
        selected_repository: RepositoryName.nullable().optional(),
        selected_branch: BranchName.nullable().optional(),
        git_provider: GitProviderInput.nullable().optional(),
        tags: TagsInput.optional(),
      },
      {
        title: '1 to 200 characters; null: the usual title.',
        public: 'Whether everybody may read it without a key.',
        selected_repository: 'Null takes the repository away; then it has no branch and no host either.',
        selected_branch: 'The branch it names; nothing is checked out.',
        git_provider: 'Where that repository is.',
        tags: 'Takes the place of all labels.',
      },
    ),
  )
  .refine((update) => update.selected_repository !== null || (!update.selected_branch && !update.git_provider), {
    path: ['selected_repository'],
    message: 'cannot be removed while a branch or a provider is set',
  })
  .meta({ id: 'ConversationUpdate' })
export type ConversationUpdate = z.infer<typeof ConversationUpdate>

export const updateConversation = endpoint({
  method: 'PATCH',
  path: '/api/v1/app-conversations/{id}',
  summary: 'Change a conversation',
  description: 'Renames it, shares it, labels it, or changes the repository it names.',
  access: 'conversations:write',
  params: OneConversation,
  body: ConversationUpdate,
  returns: AppConversation,
  etag: true,
  fails: ['not_found', 'malformed_id', 'precondition_failed'],
  example: { body: { title: 'Parser tests', public: true }, returns: exampleConversation },
})

export const deleteConversation = endpoint({
  method: 'DELETE',
  path: '/api/v1/app-conversations/{id}',
  summary: 'Delete a conversation',
  description: 'Removes it, its sub-conversations, events and tasks; a sandbox that nobody else uses goes with it.',
  access: 'conversations:write',
  params: OneConversation,
  returns: z.object({ success: done }),
  fails: ['not_found', 'malformed_id'],
  example: { returns: { success: true } },
})

/** The answer to a verb: what the conversation is doing now. */
export const ExecutionChange = z
  .object(
    described(
      { success: done, execution_status: ExecutionStatus, sandbox_status: SandboxStatus },
      { execution_status: 'What the agent does now.', sandbox_status: 'How its sandbox is now.' },
    ),
  )
  .meta({ id: 'ExecutionChange' })
export type ExecutionChange = z.infer<typeof ExecutionChange>

const verb = (path: string, summary: string, description: string, status: ExecutionStatus) =>
  endpoint({
    method: 'POST',
    path: `/api/v1/app-conversations/{id}/${path}`,
    summary,
    description,
    access: 'conversations:write',
    params: OneConversation,
    returns: ExecutionChange,
    fails: ['not_found', 'malformed_id', 'state_conflict', 'gone'],
    example: { returns: { success: true, execution_status: status, sandbox_status: 'RUNNING' } },
  })

export const pauseConversation = verb(
  'pause',
  'Pause the agent',
  'The agent stops after the step it is in. The sandbox keeps running.',
  'paused',
)
export const runConversation = verb(
  'run',
  'Let the agent run',
  'Goes on with what is in the log. Actions that wait for confirmation are accepted by it.',
  'running',
)
export const resumeConversation = verb(
  'resume',
  'Resume the conversation',
  'Resumes its sandbox when that is paused, and lets the agent go on.',
  'running',
)
export const interruptConversation = verb(
  'interrupt',
  'Interrupt the agent',
  'Cancels the model call or the command under way; what was done so far stays in the log.',
  'paused',
)
export const condenseConversation = verb(
  'condense',
  'Condense the history',
  'Before its next call notes replace the older steps in what the model is shown. The log keeps them, and no run begins.',
  'idle',
)
