import type { Condenser } from '@parley/agent/condense/condenser'
import { condensers } from '@parley/agent/condense/condensers'
import { defaultPolicy, type Policy } from '@parley/agent/loop/policy'
import type { Model } from '@parley/agent/model/model'
import type { Analyzer } from '@parley/agent/security/analyzer'
import { analyzerOfSettings, openAnalyzer } from '@parley/agent/security/analyzers'
import type { Critic } from '@parley/contract/agent-config'
import type { AgentSettings } from '@parley/contract/agent-settings'
import {
  asksFor,
  type ConfirmationPolicy,
  policyOfSettings,
  type SecurityAnalyzer,
} from '@parley/contract/confirmation'
import type { HookConfig } from '@parley/contract/hook-config'
import type { LlmOptions, LlmProfile } from '@parley/contract/llm-config'
import type { ConversationConfig } from '../config.ts'

/* What the settings of a conversation mean for its runs. */

export interface RunPolicy {
  policy: Policy
  hooks: HookConfig | null
  critic: Critic | null
  condenser: Condenser
  analyzer: Analyzer | null
  fallbacks: readonly Model[]
  logCompletions: string | null
  way: typeof fetch
}

/** How a run reaches what is outside. */
export interface Ways {
  fetch: typeof fetch
  model(profile: LlmProfile): Model
}

export function policyOf(config: ConversationConfig, agent: AgentSettings, { fetch, model }: Ways): RunPolicy {
  const confirmations = confirmationsOf(config, agent)
  const analyzer = analyzerOf(config, agent, confirmations, fetch)
  const { llm = {} } = agent
  return {
    analyzer,
    way: fetch,
    hooks: config.hook_config,
    // A critic judges the whole of the work; what a sub-agent does is a part.
    critic: config.depth === undefined ? (config.critic ?? agent.critic ?? null) : null,
    condenser: condenserOf(config, agent, model),
    fallbacks: fallbacksOf(agent).map(model),
    logCompletions: llm.log_completions === true ? (llm.log_completions_folder ?? 'logs/completions') : null,
    policy: {
      ...defaultPolicy,
      ...callsOf(llm),
      maxIterations: config.max_iterations ?? defaultPolicy.maxIterations,
      maxBudget: config.max_budget_per_task,
      toolConcurrency: agent.tool_concurrency_limit ?? defaultPolicy.toolConcurrency,
      stuckDetection: agent.stuck_detection ?? defaultPolicy.stuckDetection,
      askRisk: analyzer?.asksModel === true,
      confirmation: ({ risk }) => (confirmations.some((one) => asksFor(one, risk)) ? 'ask' : 'go'),
    },
  }
}

/** Retries and patience of the calls. The model itself watches a silence more closely, so it is given the time it asks for. */
function callsOf(llm: LlmOptions): Partial<Policy> {
  const { retries, firstByteMs, idleMs, timeoutMs } = defaultPolicy
  const silence = llm.timeout ? llm.timeout * 1000 : null
  return {
    retries: {
      attempts: Math.max(1, llm.num_retries ?? retries.attempts),
      multiplier: llm.retry_multiplier ?? retries.multiplier,
      minWaitMs: seconds(llm.retry_min_wait) ?? retries.minWaitMs,
      maxWaitMs: seconds(llm.retry_max_wait) ?? retries.maxWaitMs,
    },
    firstByteMs: silence ?? firstByteMs,
    idleMs: Math.max(idleMs, silence ?? 0),
    timeoutMs: Math.max(timeoutMs, silence ?? 0),
    maxOutputTokens: llm.max_output_tokens ?? null,
  }
}

const seconds = (value: number | undefined): number | undefined => (value === undefined ? undefined : value * 1000)

/** What any of them asks for is asked for: a sub-agent can be more careful than its parent, never less. */
const confirmationsOf = (config: ConversationConfig, agent: AgentSettings): ConfirmationPolicy[] => [
  agent.confirmation_policy ?? policyOfSettings(config.confirmation_mode, analyzerWord(config, agent)),
  ...(config.confirms ?? []).map((mode) => policyOfSettings(true, mode === 'confirm_risky' ? usualAnalyzer : null)),
]

/** Judges where risky actions are asked for and the settings name nobody. */
const usualAnalyzer = 'pattern'

/** An analyzer given as an object means the same for the policy as one that is named. */
const analyzerWord = (config: ConversationConfig, { security_analyzer: given }: AgentSettings): string | null =>
  given ? 'pattern' : config.security_analyzer

/** Where nothing is ever confirmed nobody reads a rating, so none is asked for. */
function analyzerOf(
  config: ConversationConfig,
  agent: AgentSettings,
  confirmations: readonly ConfirmationPolicy[],
  way: typeof fetch,
): Analyzer | null {
  if (confirmations.every(({ kind }) => kind === 'NeverConfirm')) return null
  const usual = config.confirms?.includes('confirm_risky') ? analyzerOfSettings(usualAnalyzer) : null
  const named: SecurityAnalyzer | null =
    agent.security_analyzer ?? analyzerOfSettings(config.security_analyzer) ?? usual
  return named === null ? null : openAnalyzer(named, way)
}

/** The settings' numbers go before those of the object: they are what the page shows. */
function condenserOf(
  { enable_default_condenser, condenser_max_size }: ConversationConfig,
  { condenser }: AgentSettings,
  model: Ways['model'],
): Condenser {
  if (!enable_default_condenser || condenser?.kind === 'NoOpCondenser') return condensers.NoOpCondenser({})
  if (!condenser) return condensers.LLMSummarizingCondenser({ maxSize: condenser_max_size })
  const { max_size: maxSize, keep_first: keepFirst, llm } = condenser
  return condensers.LLMSummarizingCondenser({
    maxSize: condenser_max_size ?? maxSize,
    keepFirst,
    model: llm === null ? null : model(llm),
  })
}

const fallbacksOf = ({ llm, llm_profiles: profiles }: AgentSettings): LlmProfile[] =>
  (llm?.fallback_strategy?.fallback_llms ?? []).flatMap((name) => {
    const profile = profiles?.[name]
    return profile === undefined ? [] : [profile]
  })
