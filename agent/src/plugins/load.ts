import { posix } from 'node:path'
import { type HookConfig, HookConfigInput } from '@parley/contract/hook-config'
import { maskedSource, type PluginInput } from '@parley/contract/plugins'
import type { Hands } from '@parley/sandbox/driver'
import { z } from 'zod'
import { type McpServer, mcpServers } from '../mcp/config.ts'
import { filled } from '../mcp/variables.ts'
import { listFiles, readFiles } from '../skills/collect.ts'
import { loadSkillFolder } from '../skills/load.ts'
import { parseSkill } from '../skills/parse.ts'
import type { Skill } from '../skills/skill.ts'
import type { Fetched } from './fetch.ts'
import { PluginFailed } from './source.ts'

/** What a plugin brings. Servers keep `${NAME}` of secrets: those are filled when a server starts. */
export interface LoadedPlugin {
  name: string
  source: string
  commit: string | null
  skills: Skill[]
  hooks: HookConfig | null
  mcp: Record<string, McpServer>
  /** Markdown definitions of sub-agents, by their absolute paths. */
  agents: Record<string, string>
  problems: string[]
}

const Manifest = z.looseObject({
  name: z
    .string()
    .regex(/^[\w.-]{1,64}$/)
    .optional(),
  entry_command: z.string().optional(),
})

const files = ['.plugin/plugin.json', '.claude-plugin/plugin.json', 'hooks/hooks.json', '.mcp.json']
const mostBytes = 256 * 1024

/** Reads a plugin's folder. Rejects with `PluginFailed` when a file of it cannot be understood: a part of it missing in silence is worse. */
export async function loadPlugin(
  hands: Hands,
  plugin: PluginInput,
  { root, commit }: Fetched,
  signal?: AbortSignal,
): Promise<LoadedPlugin> {
  const source = maskedSource(plugin.source)
  const listed = await listFiles(
    hands,
    root,
    { folders: ['commands', 'agents', '.plugin', '.claude-plugin', 'hooks'], names: ['.mcp.json'] },
    signal,
  )
  const wanted = listed.filter((path) => files.includes(path) || /^(commands|agents)\/.*\.md$/.test(path)).slice(0, 200)
  const texts = await readFiles(hands, root, wanted, mostBytes, signal)
  const json = <T>(path: string, schema: z.ZodType<T>): T | null => {
    const text = texts.get(path)
    return text === undefined ? null : parsed(source, path, text, schema)
  }

  const manifest = json('.plugin/plugin.json', Manifest) ?? json('.claude-plugin/plugin.json', Manifest) ?? {}
  const name = manifest.name ?? nameOf(plugin)
  const { skills, problems } = await loadSkillFolder(hands, root, 'skills', signal)
  const values = { ...parametersOf(plugin), PLUGIN_ROOT: root, CLAUDE_PLUGIN_ROOT: root }
  const commands = commandSkills(name, root, texts, problems)
  if (skills.length + commands.length + texts.size === 0) throw new PluginFailed(`the plugin ${source} is empty`)
  return {
    name,
    source,
    commit,
    skills: filled([...skills, ...commands], values),
    hooks: filled(json('hooks/hooks.json', HookFile), values),
    mcp: filled(json('.mcp.json', McpFile) ?? {}, values),
    agents: filled(agentsOf(root, texts), values),
    problems,
  }
}

/** Members beside the hooks are for people. */
const HookFile = z.preprocess((value) => {
  const hooks = z.looseObject({ hooks: z.looseObject({}) }).safeParse(value)
  return hooks.success ? hooks.data.hooks : value
}, HookConfigInput)

const McpFile = z.looseObject({}).transform((value) => mcpServers(value))

function parsed<T>(source: string, path: string, text: string, schema: z.ZodType<T>): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new PluginFailed(`the plugin ${source}: ${path} is not JSON`)
  }
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new PluginFailed(`the plugin ${source}: ${path}: ${issue?.path.join('.')}: ${issue?.message}`)
}

/** The last part of its place. */
const nameOf = ({ source, repo_path }: PluginInput): string =>
  posix.basename((repo_path ?? source).replace(/\/+$/, '').replace(/\.git$/, '')).replaceAll(/[^\w.-]/g, '-') ||
  'plugin'

function parametersOf({ parameters }: PluginInput): Record<string, string> {
  const known = Object.entries(parameters ?? {})
  return Object.fromEntries(
    known.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
}

/** A command is knowledge that `/plugin:command` brings up; what the user wrote after it is in the message. */
function commandSkills(plugin: string, root: string, texts: Map<string, string>, problems: string[]): Skill[] {
  return [...texts].flatMap(([path, text]) => {
    if (!path.startsWith('commands/')) return []
    const name = `${plugin}:${path.slice('commands/'.length).replace(/\.md$/, '').replaceAll('/', ':')}`
    const skill = parseSkill({ name, path: posix.join(root, path), text, folder: null })
    if (typeof skill === 'string') {
      problems.push(skill)
      return []
    }
    const content = skill.content.replaceAll('$ARGUMENTS', `what the message says after /${name}`)
    return [{ ...skill, name, content, trigger: { type: 'task', triggers: [`/${name}`] } }]
  })
}

const agentsOf = (root: string, texts: Map<string, string>): Record<string, string> =>
  Object.fromEntries(
    [...texts].flatMap(([path, text]) => (path.startsWith('agents/') ? [[posix.join(root, path), text]] : [])),
  )
