import { z } from 'zod'
import { described } from './described.ts'
import { endpoint } from './endpoint.ts'
import { exampleIds, exampleTime } from './examples.ts'
import { BranchName, RepositoryName } from './git-names.ts'
import { GitProvider, GitProviderInput } from './git-provider.ts'
import { Id, IdInput } from './id.ts'
import type { SandboxStatus } from './sandboxes.ts'
import { Trigger } from './start-request.ts'
import { Timestamp } from './time.ts'

/* The deprecated interface: a thin translation to V1. */

/** When V0 was to be removed: the value of the header `Sunset`. */
export const v0Sunset = 'Wed, 01 Apr 2026 00:00:00 GMT'

export const V0StartRequest = z
  .object(
    described(
      {
        initial_user_msg: z.string().max(1_000_000).nullable().default(null),
        repository: RepositoryName.nullable().default(null),
        selected_branch: BranchName.nullable().default(null),
        git_provider: GitProviderInput.nullable().default(null),
        image_urls: z.array(z.string().max(12_000_000)).max(20).nullable().default(null),
        conversation_instructions: z.string().max(100_000).nullable().default(null),
      },
      {
        initial_user_msg: 'What the agent is to do; null: it waits for its first message.',
        repository: 'Cloned into the workspace.',
        selected_branch: 'Checked out after the clone.',
        git_provider: 'Where the repository is; null: wherever a connected host has it.',
        image_urls: 'Images that go with the message.',
        conversation_instructions: 'Goes behind the system prompt.',
      },
    ),
  )
  .meta({ id: 'V0StartRequest' })
export type V0StartRequest = z.infer<typeof V0StartRequest>

export const V0Started = z
  .object(
    described(
      {
        status: z.literal('ok'),
        conversation_id: Id,
        message: z.string().nullable(),
        conversation_status: z.string().nullable(),
      },
      {
        status: 'The start is under way.',
        message: 'What happens next, in words.',
        conversation_status: 'In the words of V0.',
      },
    ),
  )
  .meta({ id: 'V0Started' })
export type V0Started = z.infer<typeof V0Started>

export const startV0Conversation = endpoint({
  method: 'POST',
  path: '/api/conversations',
  summary: 'Start a conversation (V0)',
  description: 'Deprecated: use the V1 start. Answers at once with the id that the conversation will have.',
  access: 'conversations:write',
  body: V0StartRequest,
  bodyLimit: 16 * 1024 * 1024,
  returns: V0Started,
  fails: ['gone', 'repository_not_accessible', 'forge_not_connected', 'capacity'],
  deprecated: true,
  example: {
    body: { initial_user_msg: 'Add a test for the parser.', repository: 'ada/engine' },
    returns: {
      status: 'ok',
      conversation_id: exampleIds.conversation,
      message: null,
      conversation_status: 'STARTING',
    },
  },
})

export const v0Statuses = ['RUNNING', 'STARTING', 'STOPPED', 'ERROR', 'ARCHIVED'] as const
export type V0Status = (typeof v0Statuses)[number]

/** What V0 calls the status of a sandbox. */
export function v0Status(status: SandboxStatus): V0Status {
  const names = {
    RUNNING: 'RUNNING',
    STARTING: 'STARTING',
    PAUSED: 'STOPPED',
    ERROR: 'ERROR',
    MISSING: 'ARCHIVED',
  } as const
  return names[status]
}

export const V0Conversation = z
  .object(
    described(
      {
        conversation_id: Id,
        title: z.string().nullable(),
        created_at: Timestamp,
        last_updated_at: Timestamp,
        status: z.enum(v0Statuses),
        selected_repository: z.string().nullable(),
        selected_branch: z.string().nullable(),
        git_provider: GitProvider.nullable(),
        trigger: Trigger.nullable(),
        pr_number: z.array(z.int()),
        url: z.string().nullable(),
        session_api_key: z.string().nullable(),
        conversation_version: z.literal('V1'),
        sub_conversation_ids: z.array(Id),
      },
      {
        title: 'Given, or made from the first message.',
        status: 'The status of its sandbox in the words of V0.',
        selected_repository: '`owner/name`.',
        selected_branch: 'As the start asked for it.',
        git_provider: 'Where the repository is.',
        trigger: 'What made it start.',
        pr_number: 'Pull requests that it is about.',
        url: 'Where its live calls answer.',
        session_api_key: 'Always null.',
        conversation_version: 'It is a conversation of V1.',
        sub_conversation_ids: 'Its sub-conversations, oldest first.',
      },
    ),
  )
  .meta({ id: 'V0Conversation' })
export type V0Conversation = z.infer<typeof V0Conversation>

export const getV0Conversation = endpoint({
  method: 'GET',
  path: '/api/conversations/{id}',
  summary: 'Get a conversation (V0)',
  description: 'Deprecated: use the V1 record. Null, with status 200, when there is no such conversation.',
  access: 'conversations:read',
  params: z.object({ id: IdInput }),
  returns: V0Conversation.nullable(),
  fails: ['gone', 'malformed_id'],
  deprecated: true,
  example: {
    returns: {
      conversation_id: exampleIds.conversation,
      title: 'Add a test for the parser',
      created_at: exampleTime,
      last_updated_at: exampleTime,
      status: 'RUNNING',
      selected_repository: 'ada/engine',
      selected_branch: 'main',
      git_provider: 'forge_a',
      trigger: 'service_api',
      pr_number: [],
      url: null,
      session_api_key: null,
      conversation_version: 'V1',
      sub_conversation_ids: [],
    },
  },
})
