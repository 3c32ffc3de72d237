import { z } from 'zod'
import { AgentConfig } from './agent-config.ts'
import { ConfirmationPolicy, SecurityAnalyzer } from './confirmation.ts'
import { described } from './described.ts'
import { endpoint } from './endpoint.ts'
import { EventSource } from './events.ts'
import { exampleIds, exampleTime } from './examples.ts'
import { ExecutionStatus } from './execution.ts'
import { GitProviderInput } from './git-provider.ts'
import { HookConfigInput } from './hook-config.ts'
import { IdInput } from './id.ts'
import { Metrics, Stats } from './metrics.ts'
import { TagsInput } from './tags.ts'
import { TimestampInput } from './time.ts'

/* Webhooks in: an agent server outside Parley reports a conversation that it runs. Answered 2xx only when stored. */

const anything = z.record(z.string(), z.unknown())

/** `LocalWorkspace` or `RemoteWorkspace`; further members are kept. */
export const Workspace = z
  .looseObject(
    described(
      { working_dir: z.string().min(1).max(4096), kind: z.string().max(255).default('LocalWorkspace') },
      { working_dir: 'The folder that the agent works in.', kind: 'Not kept.' },
    ),
  )
  .meta({ id: 'Workspace' })
export type Workspace = z.infer<typeof Workspace>

/** A conversation as its agent server sees it. Members that are not known here are ignored. */
export const ConversationInfo = z
  .object(
    described(
      {
        id: IdInput,
        workspace: Workspace,
        agent: AgentConfig,
        persistence_dir: z.string().max(4096).nullable().default('workspace/conversations'),
        max_iterations: z.int().min(1).default(500),
        stuck_detection: z.boolean().default(true),
        execution_status: ExecutionStatus.default('idle'),
        confirmation_policy: ConfirmationPolicy.default({ kind: 'NeverConfirm' }),
        security_analyzer: SecurityAnalyzer.nullable().default(null),
        activated_knowledge_skills: z.array(z.string().max(255)).max(10_000).default([]),
        blocked_actions: anything.default({}),
        blocked_messages: anything.default({}),
        last_user_message_id: z.string().max(255).nullable().default(null),
        stats: Stats.default({ usage_to_metrics: {} }),
        secret_registry: z
          .object({ secret_sources: anything.default({}).meta({ description: 'Not kept.' }) })
          .default({ secret_sources: {} }),
        agent_state: anything.default({}),
        hook_config: HookConfigInput.nullable().default(null),
        title: z.string().max(1000).nullable().default(null),
        metrics: Metrics.nullable().default(null),
        created_at: TimestampInput.optional(),
        updated_at: TimestampInput.optional(),
        tags: TagsInput.default({}),
      },
      {
        workspace: 'Where it works.',
        agent: 'Its agent; the name of the model is kept.',
        persistence_dir: 'Not kept.',
        max_iterations: 'Not kept.',
        stuck_detection: 'Not kept.',
        execution_status: 'What it does; a report older than the last one changes nothing.',
        confirmation_policy: 'Not kept.',
        security_analyzer: 'Not kept.',
        activated_knowledge_skills: 'Not kept.',
        blocked_actions: 'Not kept.',
        blocked_messages: 'Not kept.',
        last_user_message_id: 'Not kept.',
        stats: 'What it has used; sums only grow.',
        secret_registry: 'Not kept.',
        agent_state: 'Not kept.',
        hook_config: 'Not kept.',
        title: 'Of a conversation that is new here; null: a usual one.',
        metrics: 'What it has used in all, where `stats` says nothing.',
        tags: 'Labels that are added to those it has.',
      },
    ),
  )
  .meta({ id: 'ConversationInfo' })
export type ConversationInfo = z.infer<typeof ConversationInfo>

/** Bodies of agent servers may be larger than those of people. */
const webhookBodyLimit = 10 * 1024 * 1024

const Success = z.object({ success: z.boolean().default(true).meta({ description: 'It is stored.' }) })

export const reportConversation = endpoint({
  method: 'POST',
  path: '/api/v1/webhooks/conversations',
  summary: 'Report the state of a conversation',
  description: 'For agent servers outside Parley: stores status, model, metrics and tags of a conversation.',
  access: 'sandbox',
  body: ConversationInfo,
  bodyLimit: webhookBodyLimit,
  returns: Success,
  fails: ['not_found', 'gone', 'state_conflict'],
  example: {
    body: {
      id: exampleIds.conversation,
      workspace: { working_dir: '/workspace/project', kind: 'LocalWorkspace' },
      agent: { kind: 'Agent', llm: { model: 'openai/gpt-5' } },
      execution_status: 'running',
      tags: { team: 'parsers' },
    },
    returns: { success: true },
  },
})

/** An event of an agent server: kinds and members that are not known here are kept as they came. */
export const ReportedEvent = z
  .looseObject(
    described(
      {
        id: IdInput,
        timestamp: TimestampInput.optional(),
        source: EventSource,
        kind: z.string().min(1).max(255),
      },
      { source: 'Who it is from.', kind: 'What it tells; kinds that are not known here are kept as they came.' },
    ),
  )
  .meta({ id: 'ReportedEvent' })
export type ReportedEvent = z.infer<typeof ReportedEvent>

export const reportEvents = endpoint({
  method: 'POST',
  path: '/api/v1/webhooks/events/{conversation_id}',
  summary: 'Report events of a conversation',
  description: 'For agent servers outside Parley. An event whose id is stored already is not stored again.',
  access: 'sandbox',
  params: z.object({ conversation_id: IdInput }),
  body: z.array(ReportedEvent).max(10_000),
  bodyLimit: webhookBodyLimit,
  returns: Success,
  fails: ['not_found', 'malformed_id', 'gone', 'state_conflict'],
  example: {
    body: [
      {
        id: '0199f3c2-7a10-7c3e-9a51-2f0d6b1c8e44',
        timestamp: exampleTime,
        source: 'environment',
        kind: 'ConversationStateUpdateEvent',
        key: 'execution_status',
        value: 'running',
      },
    ],
    returns: { success: true },
  },
})

export const readForgeToken = endpoint({
  method: 'GET',
  path: '/api/v1/webhooks/secrets',
  summary: 'Read the current token of a Git host',
  description:
    'For agent servers outside Parley: the token as plain text, fresh at each call. Sandboxes that Parley works in ' +
    'never need it and do not get it.',
  access: 'sandbox',
  query: z.object({ provider: GitProviderInput }),
  answer: 'bytes',
  fails: ['not_found', 'insufficient_scope'],
})
