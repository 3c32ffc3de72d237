import { isKnownTool } from '@parley/agent/tools/tools'
import type { ProviderTokens } from '@parley/contract/git'
import type { GitProvider } from '@parley/contract/git-provider'
import type { McpTest, McpTestRequest } from '@parley/contract/mcp-config'
import { Problem } from '@parley/contract/problems'
import { defaultSettings, type Settings, type SettingsUpdate, type StoredSettings } from '@parley/contract/settings'
import { changedSettings, shownSettings } from '@parley/contract/settings-change'
import type { Seal } from '@parley/store/seal'
import type { SecretsService } from '../secrets/service.ts'
import type { SettingsStore } from './store.ts'
import type { TryMcp } from './try-mcp.ts'

export type SettingsService = ReturnType<typeof settingsService>

interface Parts {
  store: SettingsStore
  tryMcp: TryMcp
  seal: Seal
  secrets: SecretsService
  /** The owner's accounts at forges, which settings may name and show. */
  git: {
    add(owner: string, tokens: ProviderTokens): Promise<void>
    connected(owner: string): Promise<Partial<Record<GitProvider, string>>>
  }
}

const place = 'settings.sealed'

export function settingsService({ store, seal, secrets, git, tryMcp }: Parts) {
  async function read(rows: Pick<SettingsStore, 'get'>, owner: string): Promise<StoredSettings | undefined> {
    const row = await rows.get(owner)
    if (row === undefined) return undefined
    // Closed by us; fields that are newer than the record have their defaults.
    return { ...defaultSettings, ...(JSON.parse(await seal.open(owner, place, row.sealed)) as Partial<StoredSettings>) }
  }

  return {
    /** With the keys in it: for the work of this owner, and never for an answer. */
    stored: async (owner: string): Promise<StoredSettings> => (await read(store, owner)) ?? defaultSettings,

    async get(owner: string): Promise<Settings> {
      const stored = await read(store, owner)
      if (stored === undefined) throw new Problem('settings_not_found')
      return shownSettings(stored, await git.connected(owner))
    },

    tryMcp: async (owner: string, asked: McpTestRequest, signal: AbortSignal): Promise<McpTest> =>
      tryMcp(owner, asked, (await read(store, owner))?.mcp_config ?? null, signal),

    /** `check` is told what is stored while nobody else can change it. */
    async update(
      owner: string,
      update: SettingsUpdate,
      check: (now: Settings | undefined) => void,
    ): Promise<{ message: string }> {
      toolsKnown(update)
      const { provider_tokens, custom_secrets } = update.secrets_store ?? {}
      // Checked at the forge before anything is stored.
      if (provider_tokens !== undefined) await git.add(owner, provider_tokens)
      const forges = await git.connected(owner)
      await store.transaction(async (rows) => {
        await rows.lock(owner)
        const before = await read(rows, owner)
        check(before && shownSettings(before, forges))
        const after = changedSettings(before, update)
        await rows.put(owner, await seal.close(owner, place, JSON.stringify(after)))
      })
      for (const [name, secret] of Object.entries(custom_secrets ?? {})) {
        const { secret: value, description } = typeof secret === 'string' ? { secret, description: null } : secret
        if (!/^\*+$/.test(value)) await secrets.put(owner, { name, value, description })
      }
      return { message: 'Settings stored' }
    },
  }
}

function toolsKnown({ agent_settings: agent }: SettingsUpdate): void {
  const names = [...(agent?.tools ?? []).map(({ name }) => name), ...(agent?.include_default_tools ?? [])]
  const unknown = names.filter((name) => !isKnownTool(name))
  if (unknown.length > 0) throw new Problem('validation_error', `There is no tool ${unknown.join(', ')}.`)
}
