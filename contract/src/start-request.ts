import { z } from 'zod'
import { Critic } from './agent-config.ts'
import { described } from './described.ts'
import { EgressPolicy } from './egress.ts'
import { BranchName, RepositoryName } from './git-names.ts'
import { GitProvider, GitProviderInput, SuggestedTask, SuggestedTaskType } from './git-provider.ts'
import { HookConfig, HookConfigInput } from './hook-config.ts'
import { Id, IdInput } from './id.ts'
import { MessagePayload } from './message.ts'
import { maskedSource, Plugin, PluginInput } from './plugins.ts'
import { Processor } from './processors.ts'
import { SecretName } from './secret-names.ts'
import { SecretSource } from './secret-sources.ts'
import { Tags, TagsInput } from './tags.ts'
import { TitleInput } from './text.ts'

export const triggers = [
  'resolver',
  'gui',
  'suggested_task',
  'service_api',
  'chat_app',
  'microagent_management',
  'tracker_a',
  'tracker_a_dc',
  'tracker_b',
  'cloud_repo_host',
  'automation',
] as const
/** What made the conversation start. */
export const Trigger = z.enum(triggers).meta({ id: 'Trigger', description: 'What made the conversation start.' })
export type Trigger = z.infer<typeof Trigger>

/** `plan` may only read and write its plan file. */
export const AgentType = z
  .enum(['default', 'plan'])
  .meta({ id: 'AgentType', description: '`plan`: reads, and writes one file with a plan.' })
export type AgentType = z.infer<typeof AgentType>

/** A model as `provider/model`. */
export const ModelName = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .regex(/^[\w.:@/+-]+$/, 'must be a model name such as provider/model')

export const SuggestedTaskInput = z
  .object(
    described(
      {
        git_provider: GitProviderInput,
        task_type: SuggestedTaskType,
        repo: RepositoryName,
        issue_number: z.int().min(1),
        title: z.string().max(1000),
      },
      {
        task_type: 'What is to be done about it.',
        issue_number: 'Of the issue or the pull request.',
        title: 'Of the issue or the pull request.',
      },
    ),
  )
  .meta({ id: 'SuggestedTaskInput' })

/** Values for this conversation only; they win over stored secrets of the same name and are never answered. */
export const StartSecrets = z
  .record(SecretName, SecretSource)
  .refine((secrets) => Object.keys(secrets).length <= 100, 'must have at most 100 secrets')

/** Of the request, and of what a start task repeats of it. */
const sayings = {
  sandbox_id: 'An existing sandbox to work in; absent: chosen by the settings or made anew.',
  conversation_id: 'The id that the conversation is to have. The same start sent again with it is the same start.',
  initial_message: 'What the agent is to do. Without one the conversation waits for its first message.',
  system_message_suffix: 'Goes behind the system prompt.',
  processors: 'What is done when events are stored. A title is set for a conversation that has none, listed or not.',
  llm_model: 'Instead of the model in the settings.',
  selected_repository: '`owner/name`, cloned into the workspace.',
  selected_branch: 'Checked out after the clone; absent: a branch of its own.',
  git_provider: 'Where the repository is; absent: wherever a connected host has it.',
  suggested_task: 'Work that a Git host offers: it takes the place of a message.',
  title: 'Stays as it is given; absent: made from the first message.',
  trigger: 'What made the conversation start; absent: `service_api` for a key and `gui` for the page.',
  pr_number: 'Pull requests that the conversation is about.',
  parent_conversation_id: 'Makes a sub-conversation in the sandbox of this one; at most five deep.',
  public: 'Whether everybody may read it without a key.',
  plugins: 'Repositories with skills, MCP servers and hooks for this conversation.',
  tags: 'Labels: keys of lower-case letters and digits, values of at most 256 characters.',
  hook_config: 'Commands that run before and after what the agent does.',
  critic: 'Judges the work and can send the agent back.',
  agent_type: '`plan`: an agent that reads, and writes one file with a plan.',
  egress_policy:
    'What its network lets out; null: as the settings say. Never more than the server allows, and in a shared sandbox the strictest counts.',
}

/** The body of a start. Every field is optional; unknown ones are ignored. */
export const StartRequest = z
  .object(
    described(
      {
        sandbox_id: IdInput.nullable().default(null),
        conversation_id: IdInput.nullable().default(null),
        initial_message: MessagePayload.nullable().default(null),
        system_message_suffix: z.string().max(100_000).nullable().default(null),
        processors: z.array(Processor).max(20).nullable().default(null),
        llm_model: ModelName.nullable().default(null),
        selected_repository: RepositoryName.nullable().default(null),
        selected_branch: BranchName.nullable().default(null),
        git_provider: GitProviderInput.nullable().default(null),
        suggested_task: SuggestedTaskInput.nullable().default(null),
        title: TitleInput.nullable().default(null),
        trigger: Trigger.nullable().default(null),
        pr_number: z.array(z.int().min(1)).max(100).default([]),
        parent_conversation_id: IdInput.nullable().default(null),
        agent_type: AgentType.default('default'),
        public: z.boolean().nullable().default(null),
        plugins: z.array(PluginInput).max(50).nullable().default(null),
        secrets: StartSecrets.nullable().default(null),
        tags: TagsInput.nullable().default(null),
        hook_config: HookConfigInput.nullable().default(null),
        critic: Critic.nullable().default(null),
        /** Null: that of the settings. Never more than the server allows, and in a shared sandbox the strictest counts. */
        egress_policy: EgressPolicy.nullable().default(null),
      },
      {
        ...sayings,
        secrets: 'Values by name, for this conversation only; they win over stored ones and are never answered.',
      },
    ),
  )
  .refine((request) => request.suggested_task === null || request.initial_message === null, {
    path: ['suggested_task'],
    message: 'cannot be combined with an initial message',
  })
  .refine((request) => request.suggested_task?.task_type !== 'OPEN_PR', {
    path: ['suggested_task', 'task_type'],
    message: 'OPEN_PR cannot start a conversation',
  })
  .meta({ id: 'StartRequest' })
export type StartRequest = z.infer<typeof StartRequest>
export type StartRequestInput = z.input<typeof StartRequest>

/** The start request in an answer: after inheritance and expansion, without secret values. */
export const StartRequestEcho = z
  .object(
    described(
      {
        sandbox_id: z.string().nullable(),
        conversation_id: Id.nullable(),
        initial_message: MessagePayload.nullable(),
        system_message_suffix: z.string().nullable(),
        processors: z.array(Processor).nullable(),
        llm_model: z.string().nullable(),
        selected_repository: z.string().nullable(),
        selected_branch: z.string().nullable(),
        git_provider: GitProvider.nullable(),
        suggested_task: SuggestedTask.nullable(),
        title: z.string().nullable(),
        trigger: Trigger.nullable(),
        pr_number: z.array(z.int()),
        parent_conversation_id: Id.nullable(),
        agent_type: AgentType,
        public: z.boolean().nullable(),
        plugins: z.array(Plugin).nullable(),
        tags: Tags.nullable(),
        hook_config: HookConfig.nullable(),
        /** These are absent in tasks from before they were known. */
        critic: Critic.nullable().optional(),
        egress_policy: EgressPolicy.nullable().optional(),
      },
      sayings,
    ),
  )
  .meta({ id: 'StartRequestEcho' })
export type StartRequestEcho = z.infer<typeof StartRequestEcho>

/** The request as a start task shows it: without secrets, and with the credentials of plugin addresses masked. */
export function echoOf(request: StartRequest): StartRequestEcho {
  const { secrets: _, plugins, ...shown } = request
  const masked = plugins?.map((plugin) => ({ ...plugin, source: maskedSource(plugin.source) })) ?? null
  return { ...shown, plugins: masked }
}
