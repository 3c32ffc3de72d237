import { Problem } from '@parley/contract/problems'
import { defaultSettings, type Settings, type SettingsUpdate } from '@parley/contract/settings'
import { queryOptions, useMutation } from '@tanstack/react-query'
import { client, queries } from '../api.ts'

/** The model that needs no key; used where none is chosen. */
export const demoModel = 'parley/demo'

const unsaid: Settings = {
  ...defaultSettings,
  llm_api_key: null,
  search_api_key: null,
  sandbox_api_key: null,
  secrets_store: { provider_tokens: {}, custom_secrets: {} },
  llm_api_key_set: false,
  search_api_key_set: false,
  sandbox_api_key_set: false,
  provider_tokens_set: {},
}

/** The settings; before anything was said, what holds then. */
export const settings = queryOptions({
  queryKey: ['settings'],
  queryFn: () =>
    client.settings.get().catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'settings_not_found') return unsaid
      throw error
    }),
})

export const useSettingsChange = () =>
  useMutation({
    mutationFn: (body: SettingsUpdate) => client.settings.update({ body }),
    onSuccess: () => queries.invalidateQueries({ queryKey: settings.queryKey }),
  })
