import type { LlmConfig } from '@parley/agent/model/config'
import { secretsIn } from '@parley/contract/agent-settings'
import type { LogEvent } from '@parley/contract/events'
import { mcpKeys } from '@parley/contract/mcp-config'
import type { Seal } from '@parley/store/seal'
import type { ConversationConfig, SealedConfig } from '../config.ts'
import { record } from '../log/record.ts'
import type { LogStore } from '../log/store.ts'
import type { Usages } from '../metrics.ts'
import { sealedPlace } from '../resealed.ts'
import type { ConversationRow } from '../store.ts'

/* What is known of a conversation before anything is done for it: its log, its keys, what it has spent. */

const readPage = 2_000

/** Adds what the log has after the last of `events`. */
export async function readOn(logs: Pick<LogStore, 'after'>, id: string, events: LogEvent[]): Promise<void> {
  for (;;) {
    const rows = await logs.after(id, events.at(-1)?.seq ?? 0, readPage)
    for (const row of rows) events.push(record(row))
    if (rows.length < readPage) return
  }
}

/** What the agent works with and never sees. */
export const keysOf = ({ llm_api_key, search_api_key, agent, mcp_config }: SealedConfig) => [
  ...(llm_api_key === null ? [] : [{ name: 'LLM_API_KEY', value: llm_api_key }]),
  ...(search_api_key === null ? [] : [{ name: 'SEARCH_API_KEY', value: search_api_key }]),
  ...secretsIn(agent ?? {}).map((value) => ({ name: 'AGENT_SETTINGS', value })),
  ...mcpKeys(mcp_config).map((value) => ({ name: 'MCP_API_KEY', value })),
]

export async function sealedConfig(seal: Seal, row: ConversationRow): Promise<SealedConfig> {
  if (row.sealed_config === null) return { llm_api_key: null, search_api_key: null, mcp_config: null, secrets: {} }
  // Closed by us when the conversation was made.
  return JSON.parse(await seal.open(row.owner_id, sealedPlace(row.id), row.sealed_config)) as SealedConfig
}

/** The model of the conversation, with its key. */
export function llmOf(config: Pick<ConversationConfig, 'llm' | 'profile'>, sealed: SealedConfig): LlmConfig {
  const profile = config.profile ? sealed.agent?.llm_profiles?.[config.profile] : undefined
  return profile ?? { ...sealed.agent?.llm, ...config.llm, api_key: sealed.llm_api_key }
}

/** Usage ids of calls that are no events of the conversation. */
const besideTheLog = ['title']

/** US dollars that the log does not tell of. */
export const spentBeside = (metrics: Usages): number =>
  besideTheLog.reduce((sum, id) => sum + (metrics[id]?.accumulated_cost ?? 0), 0)
