import { createKey, deleteKey, getCurrentKey, listKeys, rotateKey } from '@parley/contract/keys'
import { serve } from '@parley/wire/serve'
import type { Keys } from './keys.ts'

export const keyRoutes = (keys: Keys) => [
  serve(listKeys, ({ who }) => keys.list(who)),
  serve(createKey, ({ who, body }) => keys.create(who, body)),
  serve(deleteKey, ({ who, params }) => keys.remove(who, params.id)),
  serve(rotateKey, ({ who, params, body }) => keys.rotate(who, params.id, body.grace_seconds)),
  serve(getCurrentKey, ({ who }) => keys.current(who)),
]
