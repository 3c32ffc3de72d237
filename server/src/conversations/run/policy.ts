import type { Condenser } from '@parley/agent/condense/condenser'
import { condensers } from '@parley/agent/condense/condensers'
import { defaultPolicy, type Policy } from '@parley/agent/loop/policy'
import type { Analyzer } from '@parley/agent/security/analyzer'
import { analyzerOfSettings, openAnalyzer } from '@parley/agent/security/analyzers'
import type { Critic } from '@parley/contract/agent-config'
import { asksFor, policyOfSettings } from '@parley/contract/confirmation'
import type { HookConfig } from '@parley/contract/hook-config'
import type { ConversationConfig } from '../config.ts'

/* What the settings of a conversation mean for its runs. */

export interface RunPolicy {
  policy: Policy
  hooks: HookConfig | null
  critic: Critic | null
  condenser: Condenser
  analyzer: Analyzer | null
}

/** `way` leads to services outside. */
export function policyOf(config: ConversationConfig, way: typeof fetch): RunPolicy {
  const confirmation = policyOfSettings(config.confirmation_mode, config.security_analyzer)
  const analyzer = analyzerOf(config, way)
  return {
    analyzer,
    hooks: config.hook_config,
    critic: config.critic ?? null,
    condenser: condenserOf(config),
    policy: {
      ...defaultPolicy,
      maxIterations: config.max_iterations ?? defaultPolicy.maxIterations,
      maxBudget: config.max_budget_per_task,
      askRisk: analyzer?.asksModel === true,
      confirmation: ({ risk }) => (asksFor(confirmation, risk) ? 'ask' : 'go'),
    },
  }
}

/** Where nothing is ever confirmed nobody reads a rating, so the model is not asked for one. */
function analyzerOf(config: ConversationConfig, way: typeof fetch): Analyzer | null {
  const named = analyzerOfSettings(config.security_analyzer)
  if (named === null || !config.confirmation_mode) return null
  return openAnalyzer(named, way)
}

const condenserOf = ({ enable_default_condenser, condenser_max_size }: ConversationConfig): Condenser =>
  enable_default_condenser
    ? condensers.LLMSummarizingCondenser({ maxSize: condenser_max_size })
    : condensers.NoOpCondenser({})
