import { createKey, deleteKey, getCurrentKey, listKeys, rotateKey } from '@parley/contract/keys'
import { atOnce, serve } from '@parley/wire/serve'
import type { Keys } from './keys.ts'

export const keyRoutes = (keys: Keys) => [
  serve(listKeys, ({ who }) => keys.list(who)),
  atOnce(serve(createKey, ({ who, body }) => keys.create(who, body))),
  atOnce(serve(deleteKey, ({ who, params }) => keys.remove(who, params.id))),
  atOnce(serve(rotateKey, ({ who, params, body }) => keys.rotate(who, params.id, body.grace_seconds))),
  serve(getCurrentKey, ({ who }) => keys.current(who)),
]
