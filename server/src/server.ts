import { warning } from '@parley/contract/events'
import { offeredForges } from '@parley/forge/forges'
import { listen } from '@parley/wire/listen'
import { doorsOf } from './access/doors.ts'
import { idempotencyStore } from './access/idempotency-store.ts'
import { openIdempotency } from './access/idempotency.ts'
import { bucketOfStart, rateLimits } from './access/rates.ts'
import { docsRoutes } from './docs/routes.ts'
import { examination } from './health/examine.ts'
import { healthRoutes } from './health/routes.ts'
import { healthService, type Readiness } from './health/service.ts'
import { version } from './health/version.ts'
import { examine } from './main/doctor.ts'
import { pageFolder } from './page-folder.ts'
import { openBelongings } from './server/belongings.ts'
import { openBrain } from './server/brain.ts'
import { openFoundation, type ServerParts } from './server/foundation.ts'
import { openHands } from './server/hands.ts'
import { openOutgoing } from './server/outgoing.ts'
import { openPeople } from './server/people.ts'
import { sharedRoutes } from './shared/routes.ts'
import { sharedService } from './shared/service.ts'
import { sharedStore } from './shared/store.ts'
import { usageRoutes } from './usage/routes.ts'
import { usageService } from './usage/service.ts'
import { usageStore } from './usage/store.ts'
import { v0Routes } from './v0/routes.ts'
import { v0Service } from './v0/service.ts'

/*
 * The wiring, ground floor first: what stands lower cannot name what stands higher. The files of `server/` are its storeys.
 */

export type Server = Awaited<ReturnType<typeof openServer>>

export async function openServer(parts: ServerParts) {
  const { config, stateDir, runtimeDir, log } = parts
  const { limits } = config
  await using opened = new AsyncDisposableStack()
  const foundation = await openFoundation(parts, opened)
  const { database, jobs, seal, clock, cursor, port, baseUrl, said } = foundation

  const people = await openPeople(foundation)
  const { access, users, audit, pepper } = people
  opened.defer(() => audit.close())
  const belongings = openBelongings(foundation, pepper)
  const { git, settings, secrets } = belongings
  const hands = await openHands({
    ...foundation,
    access,
    pepper,
    git,
    settings,
    secrets,
    stateDir,
    runtimeDir,
    refused: (sandbox, detail) => void brain.tellSandbox(sandbox, warning('egress_refused', detail)),
  })
  const { sandboxes, driver, links } = hands
  opened.defer(() => driver[Symbol.asyncDispose]())
  const brain = openBrain({ ...foundation, git, settings, secrets, sandboxes })
  const { conversations, tasks, checkpoints, kept } = brain
  opened.defer(() => kept.close())
  const keeper = hands.keep(checkpoints.tellAll)
  opened.defer(() => keeper.stop())
  // First, since it cuts short what the keeper of sandboxes waits for.
  opened.defer(() => checkpoints.close())
  const outgoing = openOutgoing({ ...foundation, git, secrets, conversations })
  opened.defer(() => outgoing.stop())

  const readiness: Readiness = { closing: false }
  const claimed = async () => (await users.ensureOwner()).claimed
  const health = healthService({ database, readiness, clock, config, version, claimed, gitProviders: offeredForges() })
  const doctor = () => examine(config, (line) => log.debug(line))
  const served = [
    ...people.routes(),
    ...belongings.routes(),
    ...hands.routes(),
    ...brain.routes(),
    ...outgoing.routes(),
    ...sharedRoutes(sharedService({ store: sharedStore(database), conversations, cursor })),
    ...v0Routes(v0Service({ conversations, tasks, enabled: config.v0 })),
    ...usageRoutes(usageService({ store: usageStore(database), clock, isOwner: users.isOwner })),
    ...healthRoutes(health, examination({ health, doctor, limits, stateDir, clock, isOwner: users.isOwner })),
    ...docsRoutes(),
  ]

  jobs.start()
  opened.defer(() => jobs.stop(0))
  const guests = hands.visits()
  opened.defer(() => guests.close())
  const idempotency = openIdempotency({ store: idempotencyStore(database), seal, clock, log: said })
  opened.defer(() => idempotency.close())
  const door = await listen({
    served: audit.watch(served),
    doors: doorsOf(access, people.lasting, baseUrl),
    limits: rateLimits(limits.rates, clock),
    bucket: bucketOfStart,
    idempotency,
    atOnce: database.atOnce,
    assets: { dir: pageFolder(), frames: links.frames },
    divert: guests,
    host: config.host,
    port,
    log,
    ...(config.baseUrl === null ? {} : { baseUrl: config.baseUrl }),
  })

  opened.defer(() => door.close(0))
  const everything = opened.move()
  return {
    url: door.url,
    port: door.port,
    served,
    database,
    access,
    users,
    driver,
    /** Stops taking work, finishes or hands back what is under way, and lets go of everything. */
    async close(graceMs: number): Promise<void> {
      await using _ = everything
      readiness.closing = true
      guests.close()
      // They are waited for with everything else.
      void Promise.allSettled([keeper.stop(), outgoing.stop()])
      await Promise.all([door.close(graceMs), jobs.stop(graceMs)])
    },
  }
}
