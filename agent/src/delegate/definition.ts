import type { HookConfig } from '@parley/contract/hook-config'
import type { McpServer } from '../mcp/config.ts'
import { inside, skillText } from '../skills/activate.ts'
import { splitFrontMatter } from '../skills/parse.ts'
import { type Skill, skillType } from '../skills/skill.ts'
import { canonicalTool } from '../tools/tools.ts'
import { type FrontMatter, readHead } from './front-matter.ts'
import { agentKinds } from './kinds.ts'

/* Sub-agents that a repository or a plugin describes: a Markdown file each, whose text is what the sub-agent is told. */

export interface AgentDefinition {
  name: string
  /** When it is of use: one line for the agent that gives the work. */
  description: string
  prompt: string
  /** Tools by their names, known ones in our spelling; null: all that its parent has. */
  tools: string[] | null
  /** A profile of the user's settings; null: the model of its parent. */
  model: string | null
  /** Absolute path of its file in the sandbox. */
  source: string
  /** Programs that are started for it beside the MCP servers of its parent. */
  servers?: Record<string, McpServer>
  /** The rest is absent where nothing is said, and in definitions that were read by an older version. */
  bounds?: AgentBounds
}

/** What makes a sub-agent do with less than its parent, or with more care. */
export interface AgentBounds {
  /** Tools that it does not have, whatever `tools` says. */
  disallowed_tools?: string[]
  /** Names of skills that it is told of whole from its beginning. */
  skills?: string[]
  /** Model calls for one piece of work. */
  max_iteration_per_run?: number
  /** US dollars for one piece of work. */
  max_budget_per_run?: number
  /** Asks for these also where its parent would not. */
  permission_mode?: 'always_confirm' | 'confirm_risky'
  /** Run after those of its parent. */
  hooks?: HookConfig
  condenser?: { kind: 'NoOpCondenser' | 'LLMSummarizingCondenser'; max_size?: number | null | undefined }
}

/** What a definition may refer to. */
export interface Referable {
  /** Names of the user's model profiles. */
  profiles: readonly string[]
  /** There are MCP servers, so a tool that we do not know may be one of theirs. */
  servers: boolean
}

const longestDescription = 1024
const longestPrompt = 32 * 1024
const mostTools = 100
const mostSkills = 20

/** The definition, or null with a sentence why the file is none; `problems` also says what of it is left out. */
export function parseAgent(
  { name, path, text }: { name: string; path: string; text: string },
  { profiles, servers }: Referable,
): { definition: AgentDefinition | null; problems: string[] } {
  const refused = (why: string) => ({ definition: null, problems: [`${path}: ${why}`] })
  const parts = splitFrontMatter(text)
  if (parts === null) return refused('its front matter is not closed by a line of three dashes')
  const read = readHead(parts.head)
  if (typeof read === 'string') return refused(read)
  const { head, idle } = read
  const called = head.name ?? name
  if (called in agentKinds) return refused(`${called} is the name of a built-in sub-agent`)
  const tools = named(head.tools)
  const disallowed = named(head.disallowed_tools)
  const own = head.permission_mode === 'plan' ? {} : (head.mcp_servers?.programs ?? {})
  const hasOwn = Object.keys(own).length > 0
  const unknown =
    servers || hasOwn ? [] : [...tools, ...disallowed].filter(({ known }) => !known).map(({ name }) => name)
  const profile = head.model && head.model !== 'inherit' ? head.model : null
  const problems = [
    ...(unknown.length > 0 ? [`no such tools: ${unknown.join(', ')}; it works without`] : []),
    ...(profile !== null && !profiles.includes(profile)
      ? [`no profile of the settings is named ${profile}; it works with the model of its parent`]
      : []),
    ...idle,
  ]
  const bounds = boundsOf(head, spellings(disallowed))
  const definition = {
    name: called,
    description: (head.description ?? '').trim().slice(0, longestDescription),
    prompt: parts.body.trim().slice(0, longestPrompt),
    // A list that was given and names nothing we have is no reason to give everything.
    tools: toolsOf(head, spellings(tools)),
    model: profile !== null && profiles.includes(profile) ? profile : null,
    source: path,
    ...(hasOwn ? { servers: own } : {}),
    ...(Object.keys(bounds).length === 0 ? {} : { bounds }),
  }
  return { definition, problems: problems.map((problem) => `${path}: ${problem}`) }
}

const named = (names: readonly string[] | null | undefined) =>
  (names ?? []).slice(0, mostTools).map((name) => ({ name, known: canonicalTool(name) }))

const spellings = (tools: ReturnType<typeof named>): string[] => [
  ...new Set(tools.map(({ name, known }) => known ?? name)),
]

/** Whoever only plans has of its tools those that read. */
function toolsOf({ tools, permission_mode: mode }: FrontMatter, names: string[]): string[] | null {
  if (mode !== 'plan') return tools ? names : null
  return agentKinds.explorer.filter((name) => !tools || names.includes(name))
}

function boundsOf(head: FrontMatter, disallowed: string[]): AgentBounds {
  const { skills, hooks, condenser, permission_mode: mode } = head
  const { max_iteration_per_run: iterations, max_budget_per_run: budget } = head
  return {
    ...(disallowed.length > 0 ? { disallowed_tools: disallowed } : {}),
    ...(skills && skills.length > 0 ? { skills: skills.slice(0, mostSkills) } : {}),
    ...(iterations ? { max_iteration_per_run: iterations } : {}),
    ...(budget ? { max_budget_per_run: budget } : {}),
    ...(mode === 'always_confirm' || mode === 'confirm_risky' ? { permission_mode: mode } : {}),
    ...(hooks ? { hooks } : {}),
    ...(condenser ? { condenser: { kind: condenser.kind, max_size: condenser.max_size } } : {}),
  }
}

/** One for each name; later ones win. */
export const mergedAgents = (lists: readonly (readonly AgentDefinition[])[]): AgentDefinition[] => [
  ...new Map(lists.flat().map((one) => [one.name, one])).values(),
]

const lineLimit = 200
const listLimit = 3_000

/** What the agent is told of those it can give work to; null when there are none. */
export function agentsPrompt(agents: readonly AgentDefinition[]): string | null {
  const lines = agents.map(({ name, description }) => `- ${name}: ${line(description)}`)
  if (lines.length === 0) return null
  return `Sub-agents of this repository, for \`agent\` of delegate:\n${lines.join('\n').slice(0, listLimit)}`
}

const line = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, lineLimit)

/** What the sub-agent itself is told: the words of a file, marked as such. Null when the file says nothing. */
export function rolePrompt({ name, prompt, source }: AgentDefinition): string | null {
  if (prompt === '') return null
  const where = `${name}" file="${source}`.replaceAll(/[<>\n]/g, ' ')
  const said = 'How such work is done here, by that file. Follow it in your task; it is not your user’s word.'
  return `<agent_definition name="${where}">\n${said}\n\n${inside(prompt, 'agent_definition')}\n</agent_definition>`
}

/** The skills that it is told of from its beginning. */
export const skillsOf = ({ bounds }: AgentDefinition, skills: readonly Skill[]): Skill[] =>
  (bounds?.skills ?? []).flatMap((wanted) => skills.find(({ name }) => name === wanted) ?? [])

const charactersOfSkills = 100_000

/** Those skills in full; null when there are none. */
export function roleSkills(definition: AgentDefinition, skills: readonly Skill[]): string | null {
  // Notes that always hold are told to every agent anyway.
  const told = skillsOf(definition, skills).filter((skill) => skillType(skill) !== 'repo')
  const texts = told.map((skill) => skillText(skill, `${definition.source} names this skill.`))
  return texts.join('\n\n').slice(0, charactersOfSkills) || null
}

/** A sentence for each that names skills which are not there. */
export const missingSkills = (agents: readonly AgentDefinition[], skills: readonly Skill[]): string[] =>
  agents.flatMap((agent) => {
    const known = skillsOf(agent, skills).map(({ name }) => name)
    const missing = (agent.bounds?.skills ?? []).filter((name) => !known.includes(name))
    return missing.length === 0 ? [] : [`${agent.source}: no such skills: ${missing.join(', ')}; it works without`]
  })
