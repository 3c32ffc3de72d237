import { changedAgentSettings, maskedAgentSettings } from './agent-settings.ts'
import type { GitProvider } from './git-provider.ts'
import { maskedMcpConfig, unmaskedMcpConfig } from './mcp-config.ts'
import { defaultSettings } from './settings.ts'
import type { Settings, SettingsUpdate, StoredSettings } from './settings.ts'

/* How a change of settings is merged into what is stored, and what of it may be shown. Pure. */

const secretFields = ['llm_api_key', 'search_api_key', 'sandbox_api_key'] as const

const hostOf = (address: string | null): string => (address === null || address === '' ? '' : new URL(address).host)

/** A key that is not sent, null, or sent as its mask stays; an empty text clears it. */
function keyAfter(stored: string | null, sent: string | null | undefined): string | null {
  if (sent === undefined || sent === null || /^\*+$/.test(sent)) return stored
  return sent === '' ? null : sent
}

/** Settings after `update`; `stored` is undefined before the first change. `secrets_store` is not part of the result. */
export function changedSettings(stored: StoredSettings | undefined, update: SettingsUpdate): StoredSettings {
  const before = stored ?? defaultSettings
  const { secrets_store: _, ...sent } = update
  const present = Object.entries(sent).filter(([, value]) => value !== undefined)
  const after: StoredSettings = { ...before, ...Object.fromEntries(present) }
  for (const field of secretFields) after[field] = keyAfter(before[field], update[field])
  if (after.llm_base_url === '') after.llm_base_url = null
  if (after.llm_model === '') after.llm_model = null
  const hosts = { before: hostOf(before.llm_base_url), now: hostOf(after.llm_base_url) }
  // A stored key goes to the host it was given for and to no other.
  if (hosts.before !== hosts.now && keyAfter(null, update.llm_api_key) === null) after.llm_api_key = null
  after.agent_settings = changedAgentSettings(before.agent_settings, update.agent_settings, hosts)
  if (after.mcp_config) after.mcp_config = unmaskedMcpConfig(after.mcp_config, before.mcp_config)
  return after
}

/** What may be answered. `providers`: connected Git hosts and their addresses, null for the public one. */
export function shownSettings(
  stored: StoredSettings,
  providers: Partial<Record<GitProvider, string | null>>,
): Settings {
  return {
    ...stored,
    mcp_config: stored.mcp_config === null ? null : maskedMcpConfig(stored.mcp_config),
    agent_settings: stored.agent_settings === null ? null : maskedAgentSettings(stored.agent_settings),
    llm_api_key: null,
    search_api_key: null,
    sandbox_api_key: null,
    secrets_store: { provider_tokens: {}, custom_secrets: {} },
    llm_api_key_set: stored.llm_api_key !== null,
    search_api_key_set: stored.search_api_key !== null,
    sandbox_api_key_set: stored.sandbox_api_key !== null,
    provider_tokens_set: providers,
  }
}
