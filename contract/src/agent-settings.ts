import { z } from 'zod'
import { AgentContext, Condenser, Critic, ToolConfig } from './agent-config.ts'
import { ConfirmationPolicy, type SecurityAnalyzer, SecurityAnalyzer as Analyzer } from './confirmation.ts'
import { described } from './described.ts'
import { HookConfig } from './hook-config.ts'
import { LlmOptions, LlmProfile } from './llm-config.ts'
import { masked } from './mcp-config.ts'

/*
 * The agent beyond what the flat settings say of it. Unknown members are refused: a misspelt one must not pass for a default.
 * Keys are answered as asterisks, and asterisks that are sent mean: as it was.
 */

const toolPattern = z
  .string()
  .max(4096)
  .refine((text) => {
    try {
      return new RegExp(text) instanceof RegExp
    } catch {
      return false
    }
  }, 'must be a regular expression')

export const AgentSettings = z
  .strictObject(
    described(
      {
        llm: LlmOptions.optional(),
        llm_profiles: z
          .record(z.string().min(1).max(255), LlmProfile)
          .refine((profiles) => Object.keys(profiles).length <= 20, 'must have at most 20 profiles')
          .optional()
          .meta({ description: 'Other models by name, for `llm.fallback_strategy`.' }),
        confirmation_policy: ConfirmationPolicy.nullable().optional(),
        security_analyzer: Analyzer.nullable().optional(),
        critic: Critic.nullable().optional(),
        condenser: Condenser.nullable().optional(),
        hook_config: HookConfig.nullable().optional(),
        agent_context: AgentContext.nullable().optional(),
        tools: z.array(ToolConfig).max(500).nullable().optional(),
        filter_tools_regex: toolPattern.nullable().optional(),
        include_default_tools: z.array(z.string().max(255)).max(500).nullable().optional(),
        tool_concurrency_limit: z.int().min(1).max(16).optional(),
        stuck_detection: z.boolean().optional(),
      },
      {
        llm: 'How the model is called; its name, key and address are the flat settings `llm_model`, `llm_api_key` and `llm_base_url`.',
        confirmation_policy: 'When an action waits for a person; goes before `confirmation_mode`.',
        security_analyzer: 'Who judges how risky an action is; goes before the word in the flat settings.',
        critic: 'Judges the work of conversations whose start request names none.',
        condenser: 'What becomes of a history that grows long.',
        hook_config: 'Hooks of yours, which run after those of the start request.',
        agent_context: 'What your agents are told: skills, and words with the system prompt or each message.',
        tools: 'The tools in the place of the usual ones; null or absent: the usual ones.',
        filter_tools_regex: 'Only tools whose name it matches somewhere, those of MCP servers too.',
        include_default_tools:
          'Tools that stay whatever `tools` and `filter_tools_regex` say; absent: `FinishTool` and `ThinkTool`.',
        tool_concurrency_limit: 'How many calls of one answer run side by side; absent: 1.',
        stuck_detection: 'Whether repeating itself ends a run; absent: yes.',
      },
    ),
  )
  .superRefine(({ llm, llm_profiles: profiles }, ctx) => {
    for (const name of llm?.fallback_strategy?.fallback_llms ?? [])
      if (profiles?.[name] === undefined)
        ctx.addIssue({ code: 'custom', path: ['llm', 'fallback_strategy'], message: `no profile is named ${name}` })
  })
  .meta({ id: 'AgentSettings' })
export type AgentSettings = z.infer<typeof AgentSettings>

/** One secret: where it stands, and where it would be sent. */
interface Place {
  id: string
  value: string
  /** Null takes it away. */
  put(value: string | null): void
}

/** Every secret in `settings`. `host`: where the model of the flat settings is. */
function secretPlaces(settings: AgentSettings, host: string): Place[] {
  const { llm, llm_profiles: profiles, security_analyzer: analyzer, critic, condenser } = settings
  return [
    ...llmPlaces('llm', llm ?? {}, host),
    ...Object.entries(profiles ?? {}).flatMap(([name, profile]) =>
      llmPlaces(`profile ${name}`, profile, `${prefixOf(profile.model)} ${profile.base_url ?? ''}`),
    ),
    ...analyzersOf(analyzer ?? null).flatMap((one) => keyPlace('analyzer', one, 'api_key', one.api_url ?? '')),
    ...(critic?.kind === 'APIBasedCritic' ? keyPlace('critic', critic, 'api_key', critic.api_url) : []),
    ...(condenser?.kind === 'LLMSummarizingCondenser' && condenser.llm
      ? llmPlaces('condenser', condenser.llm, `${prefixOf(condenser.llm.model)} ${condenser.llm.base_url ?? ''}`)
      : []),
  ]
}

const keys = ['api_key', 'cloud_access_key_id', 'cloud_secret_access_key', 'cloud_session_token'] as const

function llmPlaces(where: string, llm: Partial<LlmProfile>, host: string): Place[] {
  const bound = `${host} ${llm.cloud_runtime_endpoint ?? ''}`
  const headers = llm.extra_headers ?? {}
  return [
    ...keys.flatMap((name) => keyPlace(where, llm, name, bound)),
    ...Object.keys(headers).flatMap((name) => keyPlace(`${where} header`, headers, name, bound)),
  ]
}

function keyPlace<K extends string>(
  where: string,
  holder: { [name in K]?: string | null | undefined },
  name: K,
  bound: string,
): Place[] {
  const value = holder[name]
  if (value === undefined || value === null || value === '') return []
  const put = (next: string | null) => {
    if (next === null) delete holder[name]
    else holder[name] = next
  }
  return [{ id: JSON.stringify([where, name, bound]), value, put }]
}

type Vendor = Extract<SecurityAnalyzer, { kind: 'VendorAnalyzer' }>

function analyzersOf(analyzer: SecurityAnalyzer | null): Vendor[] {
  if (analyzer?.kind === 'VendorAnalyzer') return [analyzer]
  return analyzer?.kind === 'EnsembleSecurityAnalyzer' ? analyzer.analyzers.flatMap(analyzersOf) : []
}

const prefixOf = (model: string): string => model.slice(0, Math.max(0, model.indexOf('/')))

/** The values that must not show up anywhere. */
export const secretsIn = (settings: AgentSettings): string[] => secretPlaces(settings, '').map(({ value }) => value)

/** The settings as they may be answered. */
export function maskedAgentSettings(settings: AgentSettings): AgentSettings {
  const copy = structuredClone(settings)
  for (const place of secretPlaces(copy, '')) place.put(masked)
  return copy
}

/**
 * The settings after a change. Asterisks mean what is stored in the same place for the same destination, and what is not sent
 * is taken as it was answered: a key never goes to a host that it was not given for.
 * @param hosts of the model of the flat settings, before and now
 */
export function changedAgentSettings(
  stored: AgentSettings | null,
  sent: AgentSettings | null | undefined,
  hosts: { before: string; now: string },
): AgentSettings | null {
  if (sent === null || (sent === undefined && stored === null)) return null
  const next = sent === undefined ? maskedAgentSettings(stored ?? {}) : structuredClone(sent)
  const known = new Map(secretPlaces(stored ?? {}, hosts.before).map(({ id, value }) => [id, value]))
  for (const place of secretPlaces(next, hosts.now))
    if (/^\*+$/.test(place.value)) place.put(known.get(place.id) ?? null)
  return next
}
