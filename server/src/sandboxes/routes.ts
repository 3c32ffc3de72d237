import {
  getSandboxSpecs,
  listSandboxSecrets,
  readSandboxSecret,
  searchSandboxSpecs,
} from '@parley/contract/sandbox-specs'
import {
  createSandbox,
  deleteSandbox,
  getSandbox,
  getSandboxes,
  pauseSandbox,
  resumeSandbox,
  searchSandboxes,
} from '@parley/contract/sandboxes'
import { atOnce, serve } from '@parley/wire/serve'
import type { SecretDoors } from './secret-doors.ts'
import type { Sandboxes } from './service.ts'
import type { Specs } from './specs.ts'

export const sandboxRoutes = (sandboxes: Sandboxes, specs: Specs, doors: SecretDoors) => [
  serve(searchSandboxes, ({ who, query }) => sandboxes.search(who.owner, query)),
  serve(getSandboxes, ({ who, query }) => sandboxes.many(who.owner, query.ids)),
  serve(getSandbox, ({ who, params }) => sandboxes.get(who.owner, params.id)),
  serve(createSandbox, ({ who, query, onceId }) => sandboxes.create(who.owner, query.sandbox_spec_id, onceId)),
  serve(pauseSandbox, ({ who, params }) => sandboxes.pause(who.owner, params.id)),
  serve(resumeSandbox, ({ who, params }) => sandboxes.resume(who.owner, params.id)),
  atOnce(serve(deleteSandbox, ({ who, params, query }) => sandboxes.remove(who.owner, params.id, query.sandbox_id))),
  serve(listSandboxSecrets, ({ who, params }) => doors.list(who, params.id)),
  atOnce(serve(readSandboxSecret, ({ who, params }) => doors.read(who, params.id, params.name))),
  serve(searchSandboxSpecs, ({ query }) => specs.search(query)),
  serve(getSandboxSpecs, ({ query }) => specs.many(query.ids)),
]
