import type { McpServer } from '@parley/agent/mcp/config'
import { fetchPlugin } from '@parley/agent/plugins/fetch'
import { loadPlugin } from '@parley/agent/plugins/load'
import { type Brought, mergedHooks, mergedPlugins } from '@parley/agent/plugins/merge'
import { type ForgeAddress, placeOf, PluginFailed } from '@parley/agent/plugins/source'
import { type Loaded, loadSkills } from '@parley/agent/skills/load'
import { mergedSkills, type Skill } from '@parley/agent/skills/skill'
import type { HookConfig } from '@parley/contract/hook-config'
import type { PluginInput } from '@parley/contract/plugins'
import type { Hands } from '@parley/sandbox/driver'
import { StartFailed } from '../start/repository.ts'
import { repositoryHooks, type RepositoryHooks } from './repository-hooks.ts'

/** What joins the agent of one conversation: from its plugins and from its repository. */
export interface Extensions {
  skills: Skill[]
  plugins: Brought['plugins']
  /** Of the repository, then of plugins. */
  hooks: HookConfig | null
  mcp: Record<string, McpServer>
  /** What could not be loaded, for the user. */
  problems: string[]
}

export const noExtensions: Extensions = { skills: [], plugins: [], hooks: null, mcp: {}, problems: [] }

const nothingFound: Loaded = { skills: [], problems: [] }
const noHooks: RepositoryHooks = { hooks: null, problem: null }

export interface Wanted {
  dir: string
  /** Nothing is there: neither skills nor hooks are looked for. */
  empty: boolean
  /** As `provider/model`. */
  model: string
  plugins: readonly PluginInput[]
  forge: ForgeAddress
  disabled: readonly string[]
  /** Of the user's settings. */
  own: readonly Skill[]
}

/** Rejects with `StartFailed` when a plugin cannot be had. What the repository says wins over plugins. */
export async function loadExtensions(hands: Hands, wanted: Wanted, signal: AbortSignal): Promise<Extensions> {
  const { dir, model, plugins, forge, disabled, own } = wanted
  const loaded = []
  for (const plugin of plugins) {
    try {
      const fetched = await fetchPlugin(hands, plugin, await placeOf(plugin, forge), dir, signal)
      loaded.push(await loadPlugin(hands, plugin, fetched, signal))
    } catch (error) {
      if (error instanceof PluginFailed) throw new StartFailed(error.message, { cause: error })
      throw error
    }
  }
  const brought = mergedPlugins(loaded)
  const found = wanted.empty ? nothingFound : await loadSkills(hands, dir, model, signal)
  const repository = wanted.empty ? noHooks : await repositoryHooks(hands, dir)
  return {
    ...brought,
    hooks: mergedHooks([repository.hooks, brought.hooks]),
    skills: mergedSkills([own, brought.skills, found.skills], disabled),
    problems: [
      ...loaded.flatMap((plugin) => plugin.problems),
      ...found.problems,
      ...(repository.problem === null ? [] : [repository.problem]),
    ],
  }
}
