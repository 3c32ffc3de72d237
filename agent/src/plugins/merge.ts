import { type HookConfig, hookEvents } from '@parley/contract/hook-config'
import type { McpServer } from '../mcp/config.ts'
import { mergedSkills, type Skill } from '../skills/skill.ts'
import type { LoadedPlugin } from './load.ts'

/** A plugin as a conversation keeps it: which code it is, for ever. */
export interface PinnedPlugin {
  name: string
  source: string
  commit: string | null
}

/** What all plugins bring together: of two skills or servers with one name the last holds; hooks run one after the other. */
export interface Brought {
  plugins: PinnedPlugin[]
  skills: Skill[]
  hooks: HookConfig | null
  mcp: Record<string, McpServer>
  /** Texts of definitions of sub-agents, by path. */
  agentTexts: Record<string, string>
}

export const mergedPlugins = (plugins: readonly LoadedPlugin[]): Brought => ({
  plugins: plugins.map(({ name, source, commit }) => ({ name, source, commit })),
  skills: mergedSkills(plugins.map((plugin) => plugin.skills)),
  hooks: mergedHooks(plugins.map((plugin) => plugin.hooks)),
  mcp: Object.assign({}, ...plugins.map((plugin) => plugin.mcp)) as Record<string, McpServer>,
  agentTexts: Object.assign({}, ...plugins.map((plugin) => plugin.agents)) as Record<string, string>,
})

/** All hooks of all configurations, the first one's first; null when there are none. */
export function mergedHooks(configs: readonly (HookConfig | null)[]): HookConfig | null {
  const given = configs.filter((config) => config !== null)
  const merged = hookEvents.map((event) => [event, given.flatMap((config) => config[event])] as const)
  if (merged.every(([, matchers]) => matchers.length === 0)) return null
  return Object.fromEntries(merged) as HookConfig
}
