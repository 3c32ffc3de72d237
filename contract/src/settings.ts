import { z } from 'zod'
import { AgentSettings } from './agent-settings.ts'
import { described, doneInWords } from './described.ts'
import { EgressPolicy, HostPattern } from './egress.ts'
import { endpoint } from './endpoint.ts'
import { gitProviders } from './git-provider.ts'
import { ProviderTokensInput } from './git.ts'
import { McpConfig, McpTest, McpTestRequest } from './mcp-config.ts'
import { SecretName } from './secret-names.ts'
import { ModelName } from './start-request.ts'
import { WebAddress, line } from './text.ts'

export const groupingStrategies = [
  'NO_GROUPING',
  'GROUP_BY_NEWEST',
  'LEAST_RECENTLY_USED',
  'FEWEST_CONVERSATIONS',
  'ADD_TO_ANY',
] as const
/** Which running sandbox a new conversation joins. */
export const GroupingStrategy = z
  .enum(groupingStrategies)
  .meta({ id: 'GroupingStrategy', description: 'Which running sandbox a new conversation joins.' })
export type GroupingStrategy = z.infer<typeof GroupingStrategy>

const secret = z.string().max(4096).nullable()
const image = z
  .string()
  .max(512)
  .regex(/^[\w./:@-]*$/, 'must be the name of an image')
  .nullable()
const author = line(0, 255).refine((text) => !/[<>]/.test(text), 'must not have < or >')
const address = line(0, 254).refine((text) => /^([^\s<>@]+@[^\s<>@]+)?$/.test(text), 'must be an e-mail address')

/** What is stored of each field that a caller can set. `setup_script_required`: a failed setup script fails the start. */
const fields = described(
  {
    /** Of new and running conversations that have no policy of their own; null: the server's. `egress_hosts`: allowed beside the usual ones. */
    egress_policy: EgressPolicy.nullable(),
    egress_hosts: z.array(HostPattern).max(200).nullable(),
    language: z.string().max(35).nullable(),
    agent: z.string().max(255).nullable(),
    max_iterations: z.int().min(1).max(100_000).nullable(),
    security_analyzer: z.string().max(255).nullable(),
    confirmation_mode: z.boolean().nullable(),
    llm_model: ModelName.or(z.literal('')).nullable(),
    llm_api_key: secret,
    llm_base_url: WebAddress.or(z.literal('')).nullable(),
    user_version: z.int().nullable(),
    remote_runtime_resource_factor: z.int().min(1).max(16).nullable(),
    enable_default_condenser: z.boolean(),
    enable_sound_notifications: z.boolean(),
    enable_proactive_conversation_starters: z.boolean(),
    enable_solvability_analysis: z.boolean(),
    user_consents_to_analytics: z.boolean().nullable(),
    sandbox_base_container_image: image,
    sandbox_runtime_container_image: image,
    mcp_config: McpConfig.nullable(),
    disabled_skills: z.array(z.string().min(1).max(255)).max(1000).nullable(),
    search_api_key: secret,
    sandbox_api_key: secret,
    max_budget_per_task: z.number().min(0).nullable(),
    condenser_max_size: z.int().min(20).max(100_000).nullable(),
    email: address.nullable(),
    email_verified: z.boolean().nullable(),
    git_user_name: author.nullable(),
    git_user_email: address.nullable(),
    v1_enabled: z.boolean(),
    sandbox_grouping_strategy: GroupingStrategy,
    setup_script_required: z.boolean(),
    agent_settings: AgentSettings.nullable(),
  },
  {
    egress_policy:
      'What the network of sandboxes lets out, for conversations without a policy of their own; null: as the server says.',
    egress_hosts: 'Hosts that an allowlist has beside the usual ones.',
    language: 'Of the page, as a language tag.',
    agent: 'Kept for clients that know several agents; there is one here.',
    max_iterations: 'Steps that one run may take; null: the usual number.',
    security_analyzer: 'Who judges the risk of an action.',
    confirmation_mode: 'Whether every action waits for a yes.',
    llm_model: '`provider/model`; null or empty: the built-in demonstration.',
    llm_api_key: 'Key of the model\u2019s provider. Never answered.',
    llm_base_url: 'Address of a server that speaks like OpenAI; another host clears a key that is not sent along.',
    user_version: 'A number of the client\u2019s.',
    remote_runtime_resource_factor: 'How many times the usual size a remote sandbox has.',
    enable_default_condenser: 'Whether a long history is replaced by notes.',
    enable_sound_notifications: 'Whether the page makes a sound when something waits.',
    enable_proactive_conversation_starters: 'Whether the page offers work from the Git hosts.',
    enable_solvability_analysis: 'Kept for clients that ask for it.',
    user_consents_to_analytics: 'Kept; this server sends no analytics.',
    sandbox_base_container_image: 'An image that the operator offers.',
    sandbox_runtime_container_image: 'An image that the operator offers; it comes before the base image.',
    mcp_config: 'Servers whose tools the agent has. Keys and variables are masked; a mask sent back means unchanged.',
    disabled_skills: 'Names of skills that are left out.',
    search_api_key: 'Key of the search engine for the agent. Never answered.',
    sandbox_api_key: 'Key of a remote sandbox service. Never answered.',
    max_budget_per_task: 'US dollars that one conversation may cost.',
    condenser_max_size: 'Events after which the history is replaced by notes.',
    email: 'Kept as it is said; signing in has an address of its own.',
    email_verified: 'Kept as it is said.',
    git_user_name: 'Author of commits.',
    git_user_email: 'Address of the author of commits.',
    v1_enabled: 'Whether clients offer this version of the interface.',
    sandbox_grouping_strategy: 'Which running sandbox a new conversation joins.',
    setup_script_required: 'Whether a setup script that fails fails the start.',
    agent_settings: 'Everything else that the agent can be told.',
  },
)

/** What is stored. Secrets are in it: never answered as it is. */
export const StoredSettings = z.object(fields)
export type StoredSettings = z.infer<typeof StoredSettings>

/** Before anything was said. */
export const defaultSettings: StoredSettings = {
  egress_policy: null,
  egress_hosts: null,
  language: null,
  agent: null,
  max_iterations: null,
  security_analyzer: null,
  confirmation_mode: null,
  llm_model: null,
  llm_api_key: null,
  llm_base_url: null,
  user_version: null,
  remote_runtime_resource_factor: null,
  enable_default_condenser: true,
  enable_sound_notifications: false,
  enable_proactive_conversation_starters: true,
  enable_solvability_analysis: true,
  user_consents_to_analytics: null,
  sandbox_base_container_image: null,
  sandbox_runtime_container_image: null,
  mcp_config: null,
  disabled_skills: null,
  search_api_key: null,
  sandbox_api_key: null,
  max_budget_per_task: null,
  condenser_max_size: null,
  email: null,
  email_verified: null,
  git_user_name: null,
  git_user_email: null,
  v1_enabled: true,
  sandbox_grouping_strategy: 'NO_GROUPING',
  setup_script_required: false,
  agent_settings: null,
}

/** A custom secret inside settings: its value, or its value and description. */
const CustomSecret = z.union([
  z.string().max(65_536),
  z.object(
    described(
      { secret: z.string().max(65_536), description: z.string().max(1000).nullable().default(null) },
      { secret: 'The value. Never answered.', description: 'What it is for, told to the agent.' },
    ),
  ),
])

export const SecretsStoreInput = z
  .object(
    described(
      {
        provider_tokens: ProviderTokensInput.optional(),
        custom_secrets: z.record(SecretName, CustomSecret).optional(),
      },
      { provider_tokens: 'Tokens by kind of Git host.', custom_secrets: 'Secrets by name.' },
    ),
  )
  .meta({ id: 'SecretsStoreInput' })
export type SecretsStoreInput = z.infer<typeof SecretsStoreInput>

/**
 * A change of settings. Absent: unchanged. Null: cleared, except for the three keys, where null is unchanged too and an
 * empty text clears. A change of `llm_base_url` to another host clears a key that is not sent along.
 */
export const SettingsUpdate = z
  .object({
    ...fields,
    secrets_store: SecretsStoreInput.nullable().meta({ description: 'Tokens and secrets; what is not named stays.' }),
  })
  .partial()
  .meta({ id: 'SettingsUpdate' })
export type SettingsUpdate = z.infer<typeof SettingsUpdate>

/** Settings as they are answered: keys are null, and the `…_set` members say whether one is stored. */
export const Settings = z
  .object(
    described(
      {
        ...fields,
        llm_model: z.string().nullable(),
        llm_base_url: z.string().nullable(),
        llm_api_key: z.null(),
        search_api_key: z.null(),
        sandbox_api_key: z.null(),
        secrets_store: z.object({
          provider_tokens: z.object({}).meta({ description: 'Always empty.' }),
          custom_secrets: z.object({}).meta({ description: 'Always empty.' }),
        }),
        llm_api_key_set: z.boolean(),
        search_api_key_set: z.boolean(),
        sandbox_api_key_set: z.boolean(),
        provider_tokens_set: z.partialRecord(z.enum(gitProviders), z.string().nullable()),
      },
      {
        llm_model: '`provider/model`; null: the built-in demonstration.',
        llm_api_key: 'Never answered.',
        llm_base_url: 'Address of a server that speaks like OpenAI; null: the provider’s own.',
        search_api_key: 'Never answered.',
        sandbox_api_key: 'Never answered.',
        secrets_store: 'Always empty: secrets have calls of their own.',
        llm_api_key_set: 'Whether one is stored.',
        search_api_key_set: 'Whether one is stored.',
        sandbox_api_key_set: 'Whether one is stored.',
        provider_tokens_set: 'Connected kinds of Git host, each with its address; null: the public one.',
      },
    ),
  )
  .meta({ id: 'Settings' })
export type Settings = z.infer<typeof Settings>

export const getSettings = endpoint({
  method: 'GET',
  path: '/api/v1/settings',
  summary: 'Get settings',
  description: 'Keys and secrets are masked. Before the first change there are none, which is answered with 404.',
  access: 'settings:read',
  returns: Settings,
  etag: true,
  fails: ['settings_not_found'],
  example: {
    returns: {
      ...defaultSettings,
      llm_model: 'parley/demo',
      secrets_store: { provider_tokens: {}, custom_secrets: {} },
      llm_api_key_set: false,
      search_api_key_set: false,
      sandbox_api_key_set: false,
      provider_tokens_set: { open_forge: 'git.example' },
    },
  },
})

export const updateSettings = endpoint({
  method: 'POST',
  path: '/api/v1/settings',
  summary: 'Change settings',
  description: 'Only what is sent changes. New conversations use it; conversations under way keep what they have.',
  access: 'settings:write',
  body: SettingsUpdate,
  returns: z.object({ message: doneInWords }),
  fails: ['precondition_failed', 'forge_token_rejected', 'not_offered', 'upstream_error', 'upstream_timeout'],
  example: {
    body: { llm_model: 'openai/gpt-5', llm_api_key: 'not-a-real-key', max_budget_per_task: 2.5 },
    returns: { message: 'Settings stored' },
  },
})

export const testMcpServer = endpoint({
  method: 'POST',
  path: '/api/v1/settings/mcp/test',
  summary: 'Try an MCP server',
  description:
    'Connects to the address and lists its tools; nothing is stored. A masked key is the one that is stored for the same ' +
    'address. A failure is an answer with `ok: false`. Programs run in a sandbox and are tried when a conversation starts.',
  access: 'settings:write',
  body: McpTestRequest,
  returns: McpTest,
  example: {
    body: { kind: 'shttp', url: 'https://mcp.example/mcp', api_key: null },
    returns: { ok: true, tools: ['search', 'fetch'], detail: null },
  },
})
