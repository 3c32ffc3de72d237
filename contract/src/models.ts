import { z } from 'zod'
import { described } from './described.ts'
import { endpoint } from './endpoint.ts'
import { QueryBoolean, page, pageQuery } from './page.ts'
import { SettingsUpdate } from './settings.ts'

/** Built in: it needs no key and says that it is scripted. */
export const demoModel = 'parley/demo'

/** A model that can be chosen. `verified`: known to work with tools. */
export const Model = z
  .object(
    described(
      { provider: z.string().nullable(), name: z.string(), verified: z.boolean() },
      {
        provider: 'Null: none is known for it.',
        name: 'As it is asked for, after `provider/`.',
        verified: 'Whether it is known to work with tools.',
      },
    ),
  )
  .meta({ id: 'Model' })
export type Model = z.infer<typeof Model>

export const ModelProvider = z
  .object(
    described(
      { name: z.string(), verified: z.boolean() },
      { name: 'As it stands before the slash of `llm_model`.', verified: 'Whether models of it are known to work.' },
    ),
  )
  .meta({ id: 'ModelProvider' })
export type ModelProvider = z.infer<typeof ModelProvider>

export const ModelPage = page(Model).meta({ id: 'ModelPage' })
export type ModelPage = z.infer<typeof ModelPage>
export const ModelProviderPage = page(ModelProvider).meta({ id: 'ModelProviderPage' })
export type ModelProviderPage = z.infer<typeof ModelProviderPage>

const filters = {
  query: z.string().trim().max(256).optional().meta({ description: 'Part of the name, in any case.' }),
  verified__eq: QueryBoolean.optional().meta({ description: 'Only those that are known to work, or only the others.' }),
}

export const searchModels = endpoint({
  method: 'GET',
  path: '/api/v1/config/models/search',
  summary: 'Search models',
  description: 'Models that can be chosen; `query` is a part of the name in any case.',
  access: 'settings:read',
  query: z.object({
    ...filters,
    provider__eq: z.string().max(256).optional().meta({ description: 'Only those of this provider.' }),
    ...pageQuery(50),
  }),
  returns: ModelPage,
  fails: ['malformed_page_id'],
  example: { returns: { items: [{ provider: 'parley', name: 'demo', verified: true }], next_page_id: null } },
})

export const searchModelProviders = endpoint({
  method: 'GET',
  path: '/api/v1/config/providers/search',
  summary: 'Search model providers',
  description: 'Providers of models, verified ones first, then by name.',
  access: 'settings:read',
  query: z.object({ ...filters, ...pageQuery(50) }),
  returns: ModelProviderPage,
  fails: ['malformed_page_id'],
  example: { returns: { items: [{ name: 'parley', verified: true }], next_page_id: null } },
})

/** How a model answered: `code` says what kind of failure it is, `detail` what to do or what it said. */
export const ModelTest = z
  .object(
    described(
      {
        ok: z.boolean(),
        model: z.string(),
        latency_ms: z.int().min(0),
        code: z.string().nullable(),
        detail: z.string().nullable(),
      },
      {
        ok: 'Whether it answered.',
        model: 'Which was asked.',
        latency_ms: 'Milliseconds until its answer or failure.',
        code: 'The kind of failure, such as `auth` or `config`; null: none.',
        detail: 'What to do, or what it said.',
      },
    ),
  )
  .meta({ id: 'ModelTest' })
export type ModelTest = z.infer<typeof ModelTest>

export const testModel = endpoint({
  method: 'POST',
  path: '/api/v1/config/models/test',
  summary: 'Try a model',
  description:
    'Asks the model for one word, with what is sent; what is absent is as in the settings, and nothing is stored. A stored ' +
    'key is used only for the address it was given for. A failure is an answer with `ok: false`.',
  access: 'settings:write',
  body: z.object({
    llm_model: SettingsUpdate.shape.llm_model,
    llm_api_key: SettingsUpdate.shape.llm_api_key,
    llm_base_url: SettingsUpdate.shape.llm_base_url,
  }),
  returns: ModelTest,
  example: {
    body: { llm_model: 'openai/gpt-5', llm_api_key: 'not-a-real-key' },
    returns: { ok: true, model: 'openai/gpt-5', latency_ms: 840, code: null, detail: null },
  },
})
