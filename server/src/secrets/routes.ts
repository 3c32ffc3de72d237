import { createSecret, deleteSecret, listSecrets, searchSecrets, updateSecret } from '@parley/contract/secrets'
import { serve } from '@parley/wire/serve'
import type { SecretsService } from './service.ts'

export const secretRoutes = (secrets: SecretsService) => [
  serve(listSecrets, ({ who }) => secrets.list(who.owner)),
  serve(searchSecrets, ({ who, query }) => secrets.search(who.owner, query)),
  serve(createSecret, ({ who, body }) => secrets.create(who.owner, body)),
  serve(updateSecret, ({ who, params, body }) => secrets.update(who.owner, params.id, body)),
  serve(deleteSecret, ({ who, params }) => secrets.remove(who.owner, params.id)),
]
