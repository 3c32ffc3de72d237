import { type CatalogueModel, catalogue } from '@parley/agent/model/catalogue'
import {
  demoModel,
  type Model,
  type ModelPage,
  type ModelProvider,
  type ModelProviderPage,
  type ModelTest,
} from '@parley/contract/models'
import type { SettingsUpdate, StoredSettings } from '@parley/contract/settings'
import { changedSettings } from '@parley/contract/settings-change'
import type { Cursor } from '@parley/store/page'
import type { TryModel } from './try.ts'

/** Models that can be chosen: a list inside the program, so that a search works without the Internet. */

export type Models = ReturnType<typeof modelService>

interface Search {
  query?: string | undefined
  verified__eq?: boolean | undefined
  provider__eq?: string | undefined
  page_id?: string | undefined
  limit: number
}

/** Scripted, and the one that needs no key: what a newcomer can choose at once. */

const fullName = ({ provider, name }: { provider: string; name: string }): string => `${provider}/${name}`

interface Parts {
  cursor: Cursor
  settings: { stored(owner: string): Promise<StoredSettings> }
  tryModel: TryModel
}

export function modelService({ cursor, settings, tryModel }: Parts) {
  const models = demoFirst(catalogue())
  const providers = providersOf(models)

  function page<T>(found: readonly T[], key: string, { page_id, limit }: Search) {
    const from = page_id === undefined ? 0 : Number(cursor.read(page_id, key)[0])
    const end = from + limit
    return {
      items: found.slice(from, end),
      next_page_id: end < found.length ? cursor.write({ query: key, at: [end] }) : null,
    }
  }

  return {
    /** The one that needs no key first, then those known to work as an agent. */
    search(search: Search): ModelPage {
      const { provider__eq: provider } = search
      const found = models.filter(
        (model) => matches(search, fullName(model), model.verified) && (provider ?? model.provider) === model.provider,
      )
      return page(found, `models ${keyOf(search)}`, search)
    },

    /** What is sent is taken as a change of the settings would be, so that a stored key goes to no other host. */
    test: async (owner: string, said: SettingsUpdate, signal: AbortSignal): Promise<ModelTest> =>
      tryModel(changedSettings(await settings.stored(owner), said), signal),

    providers(search: Search): ModelProviderPage {
      const found = providers.filter(({ name, verified }) => matches(search, name, verified))
      return page(found, `model-providers ${keyOf(search)}`, search)
    },
  }
}

const keyOf = ({ query, verified__eq, provider__eq }: Search): string =>
  JSON.stringify([query?.toLowerCase() ?? null, verified__eq ?? null, provider__eq ?? null])

const matches = ({ query = '', verified__eq }: Search, name: string, verified: boolean): boolean =>
  name.toLowerCase().includes(query.toLowerCase()) && (verified__eq ?? verified) === verified

function demoFirst(known: readonly CatalogueModel[]): (Model & { provider: string })[] {
  const models = known.map(({ provider, name, verified }) => ({ provider, name, verified }))
  const isDemo = (model: { provider: string; name: string }) => fullName(model) === demoModel
  return [...models.filter(isDemo), ...models.filter((model) => !isDemo(model))]
}

/** Verified ones first, then by name. A provider is verified when one of its models is. */
function providersOf(models: readonly (Model & { provider: string })[]): ModelProvider[] {
  const found = new Map<string, boolean>()
  for (const { provider, verified } of models) found.set(provider, verified || found.get(provider) === true)
  const providers = [...found].map(([name, verified]) => ({ name, verified }))
  return providers.sort((a, b) => Number(b.verified) - Number(a.verified) || (a.name < b.name ? -1 : 1))
}
