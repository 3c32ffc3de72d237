import { createSecret, deleteSecret, listSecrets, searchSecrets, updateSecret } from '@parley/contract/secrets'
import { atOnce, serve } from '@parley/wire/serve'
import type { SecretsService } from './service.ts'

export const secretRoutes = (secrets: SecretsService) => [
  serve(listSecrets, ({ who }) => secrets.list(who.owner)),
  serve(searchSecrets, ({ who, query }) => secrets.search(who.owner, query)),
  atOnce(serve(createSecret, ({ who, body }) => secrets.create(who.owner, body))),
  atOnce(serve(updateSecret, ({ who, params, body }) => secrets.update(who.owner, params.id, body))),
  atOnce(serve(deleteSecret, ({ who, params }) => secrets.remove(who.owner, params.id))),
]
