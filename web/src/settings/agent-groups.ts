import { AgentSettings } from '@parley/contract/agent-settings'
import { LlmConfig, LlmOptions } from '@parley/contract/llm-config'
import type { Key } from '../i18n/message.ts'
import { type Member, membersOf, type Path } from './schema.ts'

/* Where each member of the agent settings stands in the page. One without a place is a failing test. */

type Title = Exclude<
  Extract<Key, `agent.${string}`>,
  `${string}.about` | 'agent.usual' | 'agent.unset' | 'agent.json' | 'agent.wrong'
>

interface AgentGroup {
  id: string
  title: Title
  /** Of the settings themselves, or of the model. */
  of: 'llm' | 'agent'
  names: readonly string[]
}

export const agentGroups = [
  {
    id: 'behaviour',
    title: 'agent.behaviour',
    of: 'agent',
    names: ['stuck_detection', 'tool_concurrency_limit', 'agent_context'],
  },
  {
    id: 'tools',
    title: 'agent.tools',
    of: 'agent',
    names: ['include_default_tools', 'filter_tools_regex', 'tools'],
  },
  { id: 'confirmation', title: 'agent.confirmation', of: 'agent', names: ['confirmation_policy', 'security_analyzer'] },
  { id: 'critic', title: 'agent.critic', of: 'agent', names: ['critic'] },
  { id: 'condenser', title: 'agent.condenser', of: 'agent', names: ['condenser'] },
  { id: 'hooks', title: 'agent.hooks', of: 'agent', names: ['hook_config'] },
  {
    id: 'sampling',
    title: 'agent.sampling',
    of: 'llm',
    names: [
      'temperature',
      'top_p',
      'top_k',
      'seed',
      'max_output_tokens',
      'max_input_tokens',
      'max_message_chars',
      'stream',
    ],
  },
  {
    id: 'reasoning',
    title: 'agent.reasoning',
    of: 'llm',
    names: ['reasoning_effort', 'reasoning_summary', 'extended_thinking_budget', 'enable_encrypted_reasoning'],
  },
  {
    id: 'cost',
    title: 'agent.cost',
    of: 'llm',
    names: ['input_cost_per_token', 'output_cost_per_token', 'caching_prompt', 'prompt_cache_retention', 'usage_id'],
  },
  {
    id: 'retries',
    title: 'agent.retries',
    of: 'llm',
    names: ['timeout', 'num_retries', 'retry_min_wait', 'retry_max_wait', 'retry_multiplier', 'fallback_strategy'],
  },
  { id: 'profiles', title: 'agent.profiles', of: 'agent', names: ['llm_profiles'] },
  {
    id: 'requests',
    title: 'agent.requests',
    of: 'llm',
    names: [
      'api_mode',
      'drop_params',
      'modify_params',
      'disable_vision',
      'native_tool_calling',
      'disable_stop_word',
      'force_string_serializer',
      'safety_settings',
      'extra_headers',
      'proxy_extra_body',
      'log_completions',
      'log_completions_folder',
    ],
  },
  {
    id: 'access',
    title: 'agent.access',
    of: 'llm',
    names: [
      'api_version',
      'model_canonical_name',
      'local_model_base_url',
      'custom_tokenizer',
      'router_site_url',
      'router_app_name',
      'cloud_region_name',
      'cloud_access_key_id',
      'cloud_secret_access_key',
      'cloud_session_token',
      'cloud_profile_name',
      'cloud_role_name',
      'cloud_session_name',
      'cloud_runtime_endpoint',
    ],
  },
] as const satisfies readonly AgentGroup[]

const usual = new Map(membersOf(LlmConfig).map((member) => [member.name, member.usual]))
const known = {
  agent: membersOf(AgentSettings),
  llm: membersOf(LlmOptions).map((member) => ({ ...member, usual: usual.get(member.name) })),
}

/** The members of a group, each with the way to it. */
export const membersIn = ({ of, names }: AgentGroup): { member: Member; path: Path }[] =>
  names.flatMap((name) => {
    const member = known[of].find((one) => one.name === name)
    return member === undefined ? [] : [{ member, path: of === 'llm' ? ['llm', name] : [name] }]
  })
