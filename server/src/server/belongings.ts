import { gitRoutes } from '../git/routes.ts'
import { gitService } from '../git/service.ts'
import { gitStore } from '../git/store.ts'
import { modelRoutes } from '../models/routes.ts'
import { modelService } from '../models/service.ts'
import { modelTrier } from '../models/try.ts'
import { secretRoutes } from '../secrets/routes.ts'
import { secretsService } from '../secrets/service.ts'
import { secretStore } from '../secrets/store.ts'
import { settingsRoutes } from '../settings/routes.ts'
import { settingsService } from '../settings/service.ts'
import { settingsStore } from '../settings/store.ts'
import { mcpTrier } from '../settings/try-mcp.ts'
import type { Foundation } from './foundation.ts'

export type Belongings = ReturnType<typeof openBelongings>

/** What a person keeps here: secrets, accounts at forges, settings and the choice of a model. */
export function openBelongings(foundation: Foundation, pepper: Buffer) {
  const { config, database, seal, clock, cursor, fetch, follow } = foundation
  const secrets = secretsService({ store: secretStore(database), seal, cursor, key: pepper })
  const git = gitService({
    store: gitStore(database),
    apart: database.apart,
    seal,
    clock,
    cursor,
    fetch: follow,
    privateHosts: config.privateHosts,
  })
  const tryMcp = mcpTrier({ fetch: follow as typeof fetch, secrets })
  const settings = settingsService({ store: settingsStore(database), seal, secrets, git, tryMcp })
  const tryModel = modelTrier({ fetch, clock })
  const routes = () => [
    ...secretRoutes(secrets),
    ...settingsRoutes(settings),
    ...gitRoutes(git),
    ...modelRoutes(modelService({ cursor, settings, tryModel })),
  ]
  return { secrets, git, settings, routes }
}
