import type { Children } from '@parley/agent/delegate/children'
import { agentsPrompt } from '@parley/agent/delegate/definition'
import { agentKinds, mostDepth } from '@parley/agent/delegate/kinds'
import { type McpServer, settingsServers } from '@parley/agent/mcp/config'
import type { McpPlace } from '@parley/agent/mcp/connect'
import type { McpStatus } from '@parley/agent/mcp/server'
import { type McpServers, openMcpServers } from '@parley/agent/mcp/servers'
import { planText } from '@parley/agent/prompts/plan'
import { invokeSkill } from '@parley/agent/skills/invoke'
import { withRules } from '@parley/agent/skills/path-rules'
import { skillsPrompt } from '@parley/agent/skills/prompt'
import { planFile } from '@parley/agent/tools/planning-file-editor'
import type { Tool } from '@parley/agent/tools/tool'
import { builtInTools, canonicalTool, toolsFor } from '@parley/agent/tools/tools'
import type { LogEvent, NewEvent } from '@parley/contract/events'
import type { ConversationConfig, SealedConfig } from '../config.ts'
import type { ConversationRow } from '../store.ts'

/** What the agent of one conversation works with: its tools, and what is said of them. */

export interface Equipment {
  row: Pick<ConversationRow, 'agent_type' | 'git_provider' | 'working_dir'>
  config: ConversationConfig
  sealed: SealedConfig
  children: Children
}

/** Null when the conversation has none. */
export function mcpServersOf({ config, sealed }: Equipment, place: McpPlace): McpServers | null {
  // What the user has chosen keeps its name: a file of a repository does not stand in for it.
  const chosen = { ...settingsServers(sealed.mcp_config), ...config.plugin_servers }
  const servers: Record<string, McpServer> = { ...config.own_servers, ...chosen }
  return Object.keys(servers).length === 0 ? null : openMcpServers(servers, place)
}

export function toolsOf(
  { row, config, sealed, children }: Equipment,
  fetch: McpPlace['fetch'],
  servers: McpServers | null,
): Tool[] {
  const key = sealed.search_api_key
  const web = key === null ? null : { fetch, key }
  const { tools, filter_tools_regex: filter = null, include_default_tools: builtIn } = sealed.agent ?? {}
  const own = toolsFor({
    agentType: row.agent_type,
    provider: row.git_provider,
    web,
    browser: config.browser ?? null,
    children: mayDelegate(config) ? children : null,
    agents: (config.agents ?? []).map(({ name }) => name),
    names: namesFor(config, tools?.map(({ name }) => name) ?? null),
    builtIn: builtIn ?? builtInTools,
    filter,
  })
  const skill = invokeSkill(config.skills)
  const ours = (skill === null ? own : [...own, skill]).map((tool) => withRules(tool, config.skills, row.working_dir))
  // A planning agent changes nothing, and what another's server changes is not known.
  const others = row.agent_type === 'plan' ? [] : (servers?.tools(namesOf(ours), filter) ?? [])
  const taken = [...ours, ...others.filter(({ name }) => config.tools?.includes(name) ?? true)]
  return taken.filter(({ name }) => !isDisallowed(config, name))
}

const isDisallowed = ({ disallowed_tools: names = [] }: ConversationConfig, name: string) => names.includes(name)

const mayDelegate = (config: ConversationConfig): boolean =>
  (config.depth ?? 0) < mostDepth && (config.tools?.includes('delegate') ?? true) && !isDisallowed(config, 'delegate')

/** A sub-agent has what its kind names, of what the user lets agents have and of what only reads. */
function namesFor({ tools: kind }: ConversationConfig, allowed: readonly string[] | null): readonly string[] | null {
  if (!kind || allowed === null) return kind ?? allowed
  const may = new Set<string | null>([...allowed.map(canonicalTool), ...agentKinds.explorer])
  return kind.filter((name) => may.has(name))
}

const namesOf = (tools: readonly Tool[]): string[] => tools.flatMap((tool) => [tool.name, ...tool.aliases])

/** What the system prompt says of this conversation beyond what it says of all; null when that is nothing. */
export function suffixOf({ row, config }: Equipment, warning: string | null): string | null {
  const plan = row.agent_type === 'plan' ? planText(planFile(row.git_provider)) : null
  const agents = row.agent_type === 'default' && mayDelegate(config) ? agentsPrompt(config.agents ?? []) : null
  const parts = [warning, plan, skillsPrompt(config.skills), agents, config.system_message_suffix, config.role]
  return parts.filter(Boolean).join('\n\n') || null
}

const key = 'mcp_servers'

/** Events that tell how the servers are, when that is not what the log says already. */
export function serverNews(statuses: readonly McpStatus[], events: readonly LogEvent[]): NewEvent[] {
  const last = events.findLast((event) => event.kind === 'ConversationStateUpdateEvent' && event.key === key)
  const before = (last?.kind === 'ConversationStateUpdateEvent' ? last.value : []) as McpStatus[]
  const same = (one: McpStatus) =>
    before.some((was) => was.name === one.name && was.status === one.status && was.tools === one.tools)
  const changed = statuses.filter((one) => !same(one))
  if (changed.length === 0 && before.length === statuses.length) return []
  const update: NewEvent = { kind: 'ConversationStateUpdateEvent', source: 'environment', key, value: statuses }
  return [update, ...changed.filter(({ status }) => status !== 'ready').map(missing)]
}

const missing = ({ name, status, detail }: McpStatus): NewEvent => ({
  kind: 'NoticeEvent',
  source: 'environment',
  code: status === 'failed' ? 'mcp_server_failed' : 'mcp_server_slow',
  detail:
    status === 'failed'
      ? `The MCP server ${name} could not be started; its tools are missing. ${detail ?? ''}`.trim()
      : `The MCP server ${name} is still starting; its tools come with the next message.`,
  level: 'warning',
})
