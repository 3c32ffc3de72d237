import { parse } from 'yaml'
import { z } from 'zod'
import { inside } from '../skills/activate.ts'
import { splitFrontMatter } from '../skills/parse.ts'
import { canonicalTool } from '../tools/tools.ts'
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
}

/** What a definition may refer to. */
export interface Referable {
  /** Names of the user's model profiles. */
  profiles: readonly string[]
  /** There are MCP servers, so a tool that we do not know may be one of theirs. */
  servers: boolean
}

const list = z
  .union([z.string().transform((text) => text.split(',')), z.array(z.coerce.string())])
  .transform((names) => names.map((name) => name.trim()).filter((name) => name !== ''))

const FrontMatter = z.object({
  name: z
    .string()
    .trim()
    .regex(/^[\w.:-]{1,64}$/)
    .nullish(),
  description: z.coerce.string().nullish(),
  tools: list.nullish(),
  model: z.coerce.string().trim().nullish(),
})

const longestDescription = 1024
const longestPrompt = 32 * 1024
const mostTools = 100

/** The definition, or null with a sentence why the file is none; `problems` also says what of it is left out. */
export function parseAgent(
  { name, path, text }: { name: string; path: string; text: string },
  { profiles, servers }: Referable,
): { definition: AgentDefinition | null; problems: string[] } {
  const refused = (why: string) => ({ definition: null, problems: [`${path}: ${why}`] })
  const parts = splitFrontMatter(text)
  if (parts === null) return refused('its front matter is not closed by a line of three dashes')
  const head = readHead(parts.head)
  if (typeof head === 'string') return refused(head)
  const own = head.name ?? name
  if (own in agentKinds) return refused(`${own} is the name of a built-in sub-agent`)
  const asked = (head.tools ?? []).slice(0, mostTools)
  const tools = asked.map((tool) => ({ tool, known: canonicalTool(tool) }))
  const unknown = servers ? [] : tools.filter(({ known }) => known === null).map(({ tool }) => tool)
  const profile = head.model && head.model !== 'inherit' ? head.model : null
  const problems = [
    ...(unknown.length > 0 ? [`${path}: no such tools: ${unknown.join(', ')}; it works without`] : []),
    ...(profile !== null && !profiles.includes(profile)
      ? [`${path}: no profile of the settings is named ${profile}; it works with the model of its parent`]
      : []),
  ]
  const definition = {
    name: own,
    description: (head.description ?? '').trim().slice(0, longestDescription),
    prompt: parts.body.trim().slice(0, longestPrompt),
    // A list that was given and names nothing we have is no reason to give everything.
    tools: head.tools ? [...new Set(tools.map(({ tool, known }) => known ?? tool))] : null,
    model: profile !== null && profiles.includes(profile) ? profile : null,
    source: path,
  }
  return { definition, problems }
}

function readHead(text: string): z.infer<typeof FrontMatter> | string {
  try {
    const data: unknown = text.trim() === '' ? {} : parse(text, { schema: 'core', maxAliasCount: 10 })
    const read = FrontMatter.safeParse(data ?? {})
    if (read.success) return read.data
    const [issue] = read.error.issues
    return `${issue?.path.join('.')}: ${issue?.message}`
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'its front matter is not YAML'
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
