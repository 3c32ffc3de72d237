import type { AgentBounds, AgentDefinition } from '@parley/agent/delegate/definition'
import type { McpServer } from '@parley/agent/mcp/config'
import type { LlmConfig } from '@parley/agent/model/config'
import { mergedHooks, type PinnedPlugin } from '@parley/agent/plugins/merge'
import type { Skill } from '@parley/agent/skills/skill'
import type { Critic } from '@parley/contract/agent-config'
import type { AgentSettings } from '@parley/contract/agent-settings'
import type { HookConfig } from '@parley/contract/hook-config'
import type { McpConfig } from '@parley/contract/mcp-config'
import type { Metrics } from '@parley/contract/metrics'
import { demoModel } from '@parley/contract/models'
import type { SecretSource } from '@parley/contract/secret-sources'
import type { StoredSettings } from '@parley/contract/settings'
import type { StartRequestEcho } from '@parley/contract/start-request'
import type { Extensions } from './skills/load.ts'

/*
 * What a conversation was started with. Taken once, from the settings of that moment: a later change of settings is for later
 * conversations. Secrets are kept apart and sealed.
 */

export interface ConversationConfig {
  llm: Omit<LlmConfig, 'api_key'>
  max_iterations: number | null
  max_budget_per_task: number | null
  confirmation_mode: boolean
  security_analyzer: string | null
  condenser_max_size: number | null
  enable_default_condenser: boolean
  disabled_skills: string[]
  system_message_suffix: string | null
  /** Told to the model with every message of the user. */
  user_message_suffix?: string | null
  /** What the repository and the plugins say to agents, as it was at the start. */
  skills: Skill[]
  plugins: PinnedPlugin[]
  /** Servers that plugins bring; those of the settings are sealed. */
  plugin_servers: Record<string, McpServer>
  /** Of the definition of a sub-agent and of those above it. */
  own_servers?: Record<string, McpServer>
  hook_config: HookConfig | null
  /** Absent in conversations that were started without. */
  critic?: Critic | null
  /** Of a sub-agent: how many are above it, and the tools it may use of its parent's; null: all. */
  depth?: number
  tools?: readonly string[] | null
  /** Of a sub-agent: tools that it does not have, whatever `tools` says. */
  disallowed_tools?: readonly string[]
  /** Of a sub-agent: what it asks a person for also where its parent would not. */
  confirms?: readonly NonNullable<AgentBounds['permission_mode']>[]
  /** Of a sub-agent: US dollars for each piece of work that it is given; null: what its parent can spare. */
  max_budget_per_run?: number | null
  /** What a definition tells it, and the profile of the settings whose model it has; null: its parent's. */
  role?: string | null
  profile?: string | null
  /** What it had used when it was given the task it is at; absent: nothing. */
  begun?: Begun
  /** The path of the browser that the sandbox had. Absent: it had none. */
  browser?: string | null
  /** Sub-agents beside the built-in ones. Absent in conversations that were started before there were any. */
  agents?: AgentDefinition[]
}

export interface Begun {
  /** Of the task. */
  key: string
  metrics: Metrics
}

export interface SealedConfig {
  llm_api_key: string | null
  search_api_key: string | null
  /** Has keys in it. Absent in conversations that were started before there were any. */
  agent?: AgentSettings | null
  mcp_config: McpConfig | null
  /** Handed over with the start request; they win over stored secrets of the same name. */
  secrets: Record<string, SecretSource>
}

/** The conversation's model: the request's, the settings' or the built-in one. */
export const modelOf = (settings: StoredSettings, request: Pick<StartRequestEcho, 'llm_model'>): string =>
  request.llm_model ?? (settings.llm_model || demoModel)

export function configOf(
  settings: StoredSettings,
  request: StartRequestEcho,
  extensions: Extensions,
): ConversationConfig {
  const { agent_settings: agent } = settings
  return {
    llm: {
      model: modelOf(settings, request),
      ...(settings.llm_base_url ? { base_url: settings.llm_base_url } : {}),
    },
    max_iterations: settings.max_iterations,
    max_budget_per_task: settings.max_budget_per_task,
    confirmation_mode: settings.confirmation_mode ?? false,
    security_analyzer: settings.security_analyzer,
    condenser_max_size: settings.condenser_max_size,
    enable_default_condenser: settings.enable_default_condenser,
    disabled_skills: settings.disabled_skills ?? [],
    system_message_suffix: joined([agent?.agent_context?.system_message_suffix, request.system_message_suffix]),
    user_message_suffix: joined([agent?.agent_context?.user_message_prefix, agent?.agent_context?.user_message_suffix]),
    skills: extensions.skills,
    plugins: extensions.plugins,
    plugin_servers: extensions.mcp,
    // Staged by a version without them, there are none.
    agents: extensions.agents ?? [],
    hook_config: mergedHooks([request.hook_config, agent?.hook_config ?? null, extensions.hooks]),
    critic: request.critic ?? null,
  }
}

const joined = (texts: readonly (string | null | undefined)[]): string | null =>
  texts.filter((text) => text !== null && text !== undefined && text !== '').join('\n\n') || null

export const sealedOf = (settings: StoredSettings, secrets: Record<string, SecretSource>): SealedConfig => ({
  llm_api_key: settings.llm_api_key,
  search_api_key: settings.search_api_key,
  agent: settings.agent_settings,
  mcp_config: settings.mcp_config,
  secrets,
})
