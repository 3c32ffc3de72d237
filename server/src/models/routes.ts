import { searchModelProviders, searchModels, testModel } from '@parley/contract/models'
import { serve } from '@parley/wire/serve'
import type { Models } from './service.ts'

export const modelRoutes = (models: Models) => [
  serve(searchModels, ({ query }) => models.search(query)),
  serve(searchModelProviders, ({ query }) => models.providers(query)),
  serve(testModel, ({ who, body, request }) => models.test(who.owner, body, request.signal)),
]
