import type { ChildTask } from '@parley/agent/delegate/children'
import { type AgentBounds, type AgentDefinition, rolePrompt, roleSkills } from '@parley/agent/delegate/definition'
import { agentKinds } from '@parley/agent/delegate/kinds'
import { defaultPolicy } from '@parley/agent/loop/policy'
import { mergedHooks } from '@parley/agent/plugins/merge'
import { childText } from '@parley/agent/prompts/child'
import type { ConversationConfig } from '../config.ts'

/**
 * What a sub-agent works with: what its parent has, less what its kind or its definition takes away. Never more, but for
 * programs in the sandbox that its definition brings as MCP servers.
 */
export function childConfig(
  config: ConversationConfig,
  { agent, budget }: Pick<ChildTask, 'agent' | 'budget'>,
): ConversationConfig {
  const definition = config.agents?.find(({ name }) => name === agent)
  const kind = definition === undefined ? (agentKinds[agent] ?? null) : definition.tools
  const bounds = definition?.bounds ?? {}
  const most = bounds.max_budget_per_run ?? null
  return {
    ...config,
    depth: (config.depth ?? 0) + 1,
    max_budget_per_task: lesser(budget, most),
    max_budget_per_run: most,
    tools: kind === null ? (config.tools ?? null) : kind.filter((tool) => config.tools?.includes(tool) ?? true),
    role: roleOf(definition, config),
    own_servers: { ...config.own_servers, ...definition?.servers },
    profile: definition?.model ?? config.profile ?? null,
    ...bounded(config, bounds),
  }
}

/** The smaller of two limits; null is none. */
export function lesser(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}

function roleOf(definition: AgentDefinition | undefined, { skills }: ConversationConfig): string {
  const own = definition === undefined ? [] : [rolePrompt(definition), roleSkills(definition, skills)]
  return [childText, ...own].filter(Boolean).join('\n\n')
}

function bounded(config: ConversationConfig, bounds: AgentBounds): Partial<ConversationConfig> {
  const { disallowed_tools: tools = [], max_iteration_per_run: iterations, permission_mode: mode } = bounds
  const usual = config.max_iterations ?? defaultPolicy.maxIterations
  const { hooks, condenser } = bounds
  return {
    ...(tools.length > 0 ? { disallowed_tools: [...(config.disallowed_tools ?? []), ...tools] } : {}),
    ...(iterations === undefined ? {} : { max_iterations: Math.min(usual, iterations) }),
    ...(mode === undefined ? {} : { confirms: [...(config.confirms ?? []), mode] }),
    ...(hooks === undefined ? {} : { hook_config: mergedHooks([config.hook_config, hooks]) }),
    ...(condenser?.kind === 'NoOpCondenser' ? { enable_default_condenser: false } : {}),
    ...(condenser?.max_size ? { condenser_max_size: condenser.max_size } : {}),
  }
}
