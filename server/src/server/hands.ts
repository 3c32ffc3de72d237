import { authorship } from '../sandboxes/authorship.ts'
import { openDriver } from '../sandboxes/driver.ts'
import { sandboxGate } from '../sandboxes/egress.ts'
import { keepSandboxes, type Tell } from '../sandboxes/keep.ts'
import { portLinks } from '../sandboxes/port-links.ts'
import { refusals } from '../sandboxes/refusals.ts'
import { sandboxRoutes } from '../sandboxes/routes.ts'
import { secretDoors } from '../sandboxes/secret-doors.ts'
import { sandboxService } from '../sandboxes/service.ts'
import { keptReady, projectIn, specIds } from '../sandboxes/spec.ts'
import { specList } from '../sandboxes/specs.ts'
import { sandboxStore } from '../sandboxes/store.ts'
import { visits } from '../sandboxes/visits.ts'
import type { Belongings } from './belongings.ts'
import type { Foundation, ServerParts } from './foundation.ts'
import type { People } from './people.ts'

type Parts = Foundation &
  Pick<ServerParts, 'stateDir' | 'runtimeDir'> &
  Pick<People, 'access' | 'pepper'> &
  Pick<Belongings, 'git' | 'settings' | 'secrets'> & {
    /** What the network of a sandbox refused, for those who work in it. */
    refused: (sandboxId: string, detail: string) => void
  }

export type Hands = Awaited<ReturnType<typeof openHands>>

/** Sandboxes: the driver that holds them, their way out, the links to what they serve, and their lives. */
export async function openHands(parts: Parts) {
  const { config, database, wake, clock, cursor, way, baseUrl, replica, log, said } = parts
  const { access, pepper, git, settings, secrets, stateDir, runtimeDir } = parts
  const { limits } = config
  const store = sandboxStore(database)
  const refused = refusals({ clock, tell: parts.refused })
  const egress = { gate: sandboxGate({ store, git, settings, secrets, limits, refused }), dial: way.dial }
  const spares = keptReady(limits)
  const driver = await openDriver(config, { stateDir, runtimeDir, egress, spares, log: (line) => log.debug(line) })
  const links = portLinks({ secret: pepper, baseUrl, appsUrl: config.appsUrl, limits, clock })
  const sandboxes = sandboxService({
    store,
    specs: specIds(config),
    images: config.sandbox === 'process' ? [] : config.sandboxImages,
    driver,
    access,
    database,
    clock,
    cursor,
    wake,
    links,
    limits,
    replica,
    describe: authorship({ git, settings }),
    log: said,
  })
  const workingDir = projectIn(driver.workspaceOf('<id of the sandbox>'))
  const specs = specList({ cursor, startedAt: clock.now(), ids: specIds(config), workingDir })
  return {
    driver,
    links,
    sandboxes,
    keep: (tell: Tell) => keepSandboxes({ store, sandboxes, driver, limits, replica, tell, log: said }),
    visits: () => visits({ store, sandboxes, links, wake, baseUrl, log: said }),
    routes: () => sandboxRoutes(sandboxes, specs, secretDoors({ sandboxes, secrets })),
  }
}
