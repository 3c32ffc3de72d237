import { type AgentDefinition, mergedAgents, missingSkills, type Referable } from '@parley/agent/delegate/definition'
import { agentsIn, loadAgents } from '@parley/agent/delegate/load'
import type { McpServer } from '@parley/agent/mcp/config'
import { fetchPlugin } from '@parley/agent/plugins/fetch'
import { loadPlugin } from '@parley/agent/plugins/load'
import { type Brought, mergedHooks, mergedPlugins } from '@parley/agent/plugins/merge'
import { type ForgeAddress, placeOf, PluginFailed } from '@parley/agent/plugins/source'
import { type Loaded, loadSkillFolder, loadSkills } from '@parley/agent/skills/load'
import { mergedSkills, type Skill } from '@parley/agent/skills/skill'
import type { HookConfig } from '@parley/contract/hook-config'
import type { PluginInput } from '@parley/contract/plugins'
import type { Hands } from '@parley/sandbox/driver'
import { StartFailed } from '../start/repository.ts'
import type { CommonRepository } from './common-repositories.ts'
import { repositoryHooks, type RepositoryHooks } from './repository-hooks.ts'

/** What joins the agent of one conversation: from its plugins and from its repository. */
export interface Extensions {
  skills: Skill[]
  plugins: Brought['plugins']
  /** Of the repository, then of plugins. */
  hooks: HookConfig | null
  mcp: Record<string, McpServer>
  /** Sub-agents; those of the repository win over those of plugins. */
  agents: AgentDefinition[]
  /** What could not be loaded, for the user. */
  problems: string[]
}

export const noExtensions: Extensions = { skills: [], plugins: [], hooks: null, mcp: {}, agents: [], problems: [] }

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
  /** What holds for all work of the user and of the organisation, the weakest first. */
  common: readonly CommonRepository[]
  /** What of the settings definitions of sub-agents may refer to. */
  referable: Referable
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
  const { agentTexts, ...brought } = mergedPlugins(loaded)
  const referable = { ...wanted.referable, servers: wanted.referable.servers || Object.keys(brought.mcp).length > 0 }
  const found = wanted.empty ? nothingFound : await loadSkills(hands, dir, model, signal)
  const common = []
  for (const one of wanted.common) common.push(await loadCommon(hands, one, { ...wanted, referable }, signal))
  const skills = mergedSkills([...common.map((one) => one.skills), own, brought.skills, found.skills], disabled)
  const loadedAgents = [
    ...common.map((one) => one.agents),
    agentsIn(new Map(Object.entries(agentTexts)), '/', referable),
    ...(wanted.empty ? [] : [await loadAgents(hands, dir, referable, signal)]),
  ]
  const agents = mergedAgents(loadedAgents.map((one) => one.agents))
  const repository = wanted.empty ? noHooks : await repositoryHooks(hands, dir)
  return {
    ...brought,
    agents,
    hooks: mergedHooks([repository.hooks, brought.hooks]),
    skills,
    problems: [
      ...loaded.flatMap((plugin) => plugin.problems),
      ...common.flatMap(({ problems }) => problems),
      ...found.problems,
      ...loadedAgents.flatMap(({ problems }) => problems),
      ...missingSkills(agents, skills),
      ...(repository.problem === null ? [] : [repository.problem]),
    ],
  }
}

const skillFolders = ['microagents', 'skills']

/** One that cannot be had is told of, and the start goes on: nobody asked for it by name. */
async function loadCommon(
  hands: Hands,
  { name, url }: CommonRepository,
  { dir, referable }: Pick<Wanted, 'dir' | 'referable'>,
  signal: AbortSignal,
) {
  try {
    const place = { kind: 'git', url } as const
    const { root } = await fetchPlugin(hands, { source: name, ref: null, repo_path: null }, place, dir, signal)
    const found = []
    for (const folder of skillFolders) found.push(await loadSkillFolder(hands, root, folder, signal))
    const agents = await loadAgents(hands, root, referable, signal, ['agents'])
    const problems = found.flatMap((one) => one.problems)
    return { skills: found.flatMap(({ skills }) => skills), agents, problems }
  } catch (error) {
    if (!(error instanceof PluginFailed)) throw error
    const problems = [error.message.replace('the plugin ', 'the repository ')]
    return { skills: [], agents: { agents: [], problems: [] }, problems }
  }
}
