import { defaultPolicy, type Policy } from '@parley/agent/loop/policy'
import type { ConversationConfig } from '../config.ts'

/** What the settings of a conversation mean for its runs. */
export const policyOf = (config: ConversationConfig): Policy => ({
  ...defaultPolicy,
  maxIterations: config.max_iterations ?? defaultPolicy.maxIterations,
  maxBudget: config.max_budget_per_task,
  confirmation: config.confirmation_mode ? (planned) => (planned.readOnly ? 'go' : 'ask') : () => 'go',
})
