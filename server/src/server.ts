import { finishSso } from '@parley/contract/users'
import { offeredForges } from '@parley/forge/forges'
import { type Clock, systemClock } from '@parley/store/clock'
import { type Connection, openDatabase } from '@parley/store/database'
import { openJobs } from '@parley/store/jobs'
import { migrate } from '@parley/store/migrate'
import { openCursor } from '@parley/store/page'
import { openSeal } from '@parley/store/seal'
import { openWake } from '@parley/store/wake'
import { listen } from '@parley/wire/listen'
import { outbound } from '@parley/wire/outbound'
import { doorsOf } from './access/doors.ts'
import { idempotencyStore } from './access/idempotency-store.ts'
import { openIdempotency } from './access/idempotency.ts'
import { keysOf } from './access/keys.ts'
import { lastingCalls } from './access/lasting.ts'
import { bucketOfStart, rateLimits } from './access/rates.ts'
import { keyRoutes } from './access/routes.ts'
import { openServerSecret } from './access/server-secret.ts'
import { accessService } from './access/service.ts'
import { accessStore } from './access/store.ts'
import { auditRoutes } from './audit/routes.ts'
import { auditService } from './audit/service.ts'
import { auditStore } from './audit/store.ts'
import type { Config } from './config.ts'
import { checkpointsOf } from './conversations/checkpoints/save.ts'
import { checkpointStore } from './conversations/checkpoints/store.ts'
import { insightStore } from './conversations/insight-store.ts'
import { insightOf } from './conversations/insight.ts'
import { liveHub } from './conversations/live.ts'
import { groupedAppends } from './conversations/log/group.ts'
import { recentEvents } from './conversations/log/recent.ts'
import { logStore } from './conversations/log/store.ts'
import { reachOf } from './conversations/reach.ts'
import { conversationRoutes } from './conversations/routes.ts'
import { keptRuns } from './conversations/run/kept.ts'
import { runJobKind } from './conversations/run/run.ts'
import { refusalNotice, sandboxNews } from './conversations/sandbox-news.ts'
import { conversationService } from './conversations/service.ts'
import { skillStore } from './conversations/skills/store.ts'
import { startTasks } from './conversations/start/start-tasks.ts'
import { startJobKind } from './conversations/start/start.ts'
import { startSteps } from './conversations/start/steps.ts'
import { startTaskStore } from './conversations/start/store.ts'
import { conversationStore } from './conversations/store.ts'
import { terminals } from './conversations/terminal.ts'
import { runJob, startJob } from './conversations/topics.ts'
import { workspaceRoutes } from './conversations/workspace-routes.ts'
import { docsRoutes } from './docs/routes.ts'
import { eventRoutes } from './events/routes.ts'
import { eventService } from './events/service.ts'
import { eventSockets } from './events/socket.ts'
import { eventStore } from './events/store.ts'
import { freePort } from './free-port.ts'
import { gitRoutes } from './git/routes.ts'
import { gitService } from './git/service.ts'
import { gitStore } from './git/store.ts'
import { examination } from './health/examine.ts'
import { healthRoutes } from './health/routes.ts'
import { healthService, type Readiness } from './health/service.ts'
import { version } from './health/version.ts'
import type { Log } from './log.ts'
import { examine } from './main/doctor.ts'
import { migrations } from './migrations/migrations.ts'
import { modelRoutes } from './models/routes.ts'
import { modelService } from './models/service.ts'
import { modelTrier } from './models/try.ts'
import { pageFolder } from './page-folder.ts'
import { authorship } from './sandboxes/authorship.ts'
import { openDriver } from './sandboxes/driver.ts'
import { sandboxGate } from './sandboxes/egress.ts'
import { keepSandboxes } from './sandboxes/keep.ts'
import { portLinks } from './sandboxes/port-links.ts'
import { refusals } from './sandboxes/refusals.ts'
import { sandboxRoutes } from './sandboxes/routes.ts'
import { secretDoors } from './sandboxes/secret-doors.ts'
import { sandboxService } from './sandboxes/service.ts'
import { builtInSpec, specIds } from './sandboxes/spec.ts'
import { specList } from './sandboxes/specs.ts'
import { sandboxStore } from './sandboxes/store.ts'
import { visits } from './sandboxes/visits.ts'
import { secretRoutes } from './secrets/routes.ts'
import { secretsService } from './secrets/service.ts'
import { secretStore } from './secrets/store.ts'
import { openOutgoing } from './server/outgoing.ts'
import { settingsRoutes } from './settings/routes.ts'
import { settingsService } from './settings/service.ts'
import { settingsStore } from './settings/store.ts'
import { mcpTrier } from './settings/try-mcp.ts'
import { sharedRoutes } from './shared/routes.ts'
import { sharedService } from './shared/service.ts'
import { sharedStore } from './shared/store.ts'
import { heard } from './stirs.ts'
import { usageRoutes } from './usage/routes.ts'
import { usageService } from './usage/service.ts'
import { usageStore } from './usage/store.ts'
import { invitationsOf } from './users/invitations.ts'
import { openOidc } from './users/oidc.ts'
import { peopleOf } from './users/people.ts'
import { userRoutes } from './users/routes.ts'
import { userService } from './users/service.ts'
import { ssoCookies } from './users/sso-cookie.ts'
import { ssoService } from './users/sso.ts'
import { userStore } from './users/store.ts'
import { openTries } from './users/tries.ts'
import { v0Routes } from './v0/routes.ts'
import { v0Service } from './v0/service.ts'
import { webhookRoutes } from './webhooks/routes.ts'

/*
 * The wiring, ground floor first: what stands lower cannot name what stands higher.
 */

export interface ServerParts {
  config: Config
  connection: Connection
  /** 32 bytes; the newest first. */
  keks: readonly Buffer[]
  /** Where sandboxes keep their files, and where their sockets are. */
  stateDir: string
  runtimeDir: string
  /** This server among others on the same database; the same after a restart. */
  replica: string
  log: Log
  clock?: Clock
}

/** Tells every replica that a key or a session has become void. */
const accessTopic = 'access'

export type Server = Awaited<ReturnType<typeof openServer>>

export async function openServer({
  config,
  connection,
  keks,
  stateDir,
  runtimeDir,
  replica,
  log,
  clock = systemClock,
}: ServerParts) {
  const { limits } = config
  const said = (message: string, details?: Record<string, unknown>) => log.warn(details ?? {}, message)
  // What is open already is let go of when a later part cannot be opened.
  await using opened = new AsyncDisposableStack()
  const database = openDatabase({ connection, max: 20, applicationName: `parley ${replica}` })
  opened.defer(() => database.close())
  await migrate(database, migrations)
  const wake = heard(openWake(database), database)
  opened.defer(() => wake.close())
  const jobs = openJobs({ database, wake, clock, replica, log: said })
  const seal = await openSeal({ database, keks })
  const cursor = openCursor(keks)
  const way = outbound({ privateHosts: config.privateHosts, timeoutMs: 600_000, idleTimeoutMs: 600_000 })
  opened.defer(() => way.close())
  const port = config.port === 0 ? await freePort(config.host) : config.port
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  const baseUrl = config.baseUrl ?? `http://${host}:${port}`

  const forgeFetch: typeof way.fetch = (url, init) => way.fetch(url, { ...init, redirects: 3 })

  const accessRows = accessStore(database)
  const pepper = await openServerSecret(accessRows, seal, 'pepper')
  const access = accessService({ store: accessRows, pepper, clock, revoked: () => wake.tell(accessTopic) })
  const lasting = lastingCalls({ store: accessRows, log: said })
  wake.on(accessTopic, () => {
    access.forget()
    lasting.check()
  })
  const people = userStore(database)
  const users = userService({ store: people, access, tries: openTries(database, clock), clock })
  const auditRows = auditStore(database, await openServerSecret(accessRows, seal, 'audit'))
  const audit = auditService({ store: auditRows, database, clock, cursor, isOwner: users.isOwner, log: said })
  const persons = peopleOf({ store: people, users, access })
  const invitations = invitationsOf({ store: people, users, clock, baseUrl })
  const sso = ssoService({
    store: people,
    users,
    audit,
    clock,
    cookies: ssoCookies({ secret: pepper, baseUrl }),
    baseUrl,
    oidc: config.oidc && openOidc(config.oidc, `${baseUrl}${finishSso.path}`),
    allowedDomains: config.oidc?.allowedDomains ?? [],
    log: said,
  })
  const secrets = secretsService({ store: secretStore(database), seal, cursor, key: pepper })
  const git = gitService({
    store: gitStore(database),
    apart: database.apart,
    seal,
    clock,
    cursor,
    fetch: forgeFetch,
    privateHosts: config.privateHosts,
  })
  const tryMcp = mcpTrier({ fetch: forgeFetch as typeof fetch, secrets })
  const settings = settingsService({ store: settingsStore(database), seal, secrets, git, tryMcp })

  const sandboxRows = sandboxStore(database)
  const refused = refusals({ clock, tell: (sandbox, detail) => void tellSandbox(sandbox, refusalNotice(detail)) })
  const gate = sandboxGate({ store: sandboxRows, git, settings, secrets, limits, refused })
  const egress = { gate, dial: way.dial }
  const spares = { most: limits.sandboxes.warm, workingDir: builtInSpec.root, limits: limits.sandbox }
  const driver = await openDriver(config, { stateDir, runtimeDir, egress, spares, log: (line) => log.debug(line) })
  const links = portLinks({ secret: pepper, baseUrl, appsUrl: config.appsUrl, limits, clock })
  const sandboxes = sandboxService({
    store: sandboxRows,
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
  const specs = specList({ cursor, startedAt: clock.now(), ids: specIds(config) })
  opened.use(driver)

  const conversationRows = conversationStore(database)
  const taskRows = startTaskStore(database)
  const live = liveHub()
  const kept = keptRuns()
  const recent = recentEvents()
  const logs = logStore(database)
  const tasks = startTasks({
    store: taskRows,
    jobs,
    wake,
    clock,
    seal,
    cursor,
    baseUrl,
    deadlineMs: limits.start.deadline,
  })
  const steps = startSteps({
    skills: skillStore(database),
    store: taskRows,
    conversations: conversationRows,
    tasks,
    sandboxes,
    settings,
    git,
    seal,
    jobs,
    wake,
    clock,
    limits,
  })
  const insights = insightStore(database)
  const checkpoints = checkpointsOf({
    store: checkpointStore(database),
    sandboxes,
    limits,
    tell: (conversation, event) => conversations.tell(conversation, event),
    log: said,
  })
  sandboxes.beforeLeaving(checkpoints.saveAll)
  const { tellAll: tell } = checkpoints
  const keeper = keepSandboxes({ store: sandboxRows, sandboxes, driver, limits, replica, tell, log: said })
  opened.defer(() => keeper.stop())
  opened.defer(() => checkpoints.close())
  const work = {
    store: conversationRows,
    insights,
    jobs,
    logs,
    append: groupedAppends(logs),
    recent,
    database,
    sandboxes,
    secrets,
    seal,
    wake,
    live,
    clock,
    kept,
    checkpoints,
  }
  if (config.role !== 'api') {
    jobs.register(
      startJob,
      startJobKind({ store: taskRows, tasks, steps, limits, discard: sandboxes.discard, log: said }),
    )
    jobs.register(
      runJob,
      runJobKind({ ...work, fetch: way.fetch as typeof fetch, follow: forgeFetch as typeof fetch, log: said }),
    )
  }
  const conversations = conversationService({
    database,
    store: conversationRows,
    taskRows,
    tasks,
    sandboxes,
    git,
    jobs,
    wake,
    cursor,
    clock,
    kept,
    live,
    recent,
    logs,
    seal,
    checkpoints,
    baseUrl,
  })
  const reach = reachOf({ sandboxes, checkpoints })
  const tellSandbox = sandboxNews({ store: conversationRows, append: conversations.append, log: said })
  const readiness: Readiness = { closing: false }
  const claimed = async () => (await users.ensureOwner()).claimed
  const health = healthService({ database, readiness, clock, config, version, claimed, gitProviders: offeredForges() })
  const insight = insightOf({ store: insights, conversations, checkpoints, sandboxes })
  const idempotency = openIdempotency({ store: idempotencyStore(database), seal, clock, log: said })
  const events = eventService({ store: eventStore(database), conversations, cursor })

  const common = { config, database, wake, jobs, seal, clock, cursor, log, said }
  const outgoing = openOutgoing({ ...common, way, git, secrets, conversations })
  opened.defer(() => outgoing.stop())

  const doctor = () => examine(config, (line) => log.debug(line))
  const served = [
    ...keyRoutes(keysOf(access, clock)),
    ...auditRoutes(audit),
    ...userRoutes({ users, people: persons, sessions: access, invitations, sso, baseUrl }),
    ...secretRoutes(secrets),
    ...settingsRoutes(settings),
    ...gitRoutes(git),
    ...modelRoutes(
      modelService({ cursor, settings, tryModel: modelTrier({ fetch: way.fetch as typeof fetch, clock }) }),
    ),
    ...sandboxRoutes(sandboxes, specs, secretDoors({ sandboxes, secrets })),
    ...conversationRoutes(conversations, tasks, reach),
    ...workspaceRoutes({ conversations, reach, insight, logs, terminals: terminals({ sandboxes }) }),
    ...eventRoutes(events, conversations, eventSockets({ events, conversations })),
    ...webhookRoutes(outgoing.reports, outgoing.tokens, outgoing.webhooks),
    ...sharedRoutes(sharedService({ store: sharedStore(database), conversations, cursor })),
    ...v0Routes(v0Service({ conversations, tasks, enabled: config.v0 })),
    ...usageRoutes(usageService({ store: usageStore(database), clock, isOwner: users.isOwner })),
    ...healthRoutes(health, examination({ health, doctor, limits, stateDir, clock, isOwner: users.isOwner })),
    ...docsRoutes(),
  ]

  jobs.start()
  opened.defer(() => jobs.stop(0))
  const guests = visits({ store: sandboxRows, sandboxes, links, wake, baseUrl, log: said })
  opened.defer(() => guests.close())
  const door = await listen({
    served: audit.watch(served),
    doors: doorsOf(access, lasting, baseUrl),
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

  opened.move()
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
      readiness.closing = true
      guests.close()
      await Promise.all([keeper.stop(), outgoing.stop()])
      await Promise.all([door.close(graceMs), jobs.stop(graceMs)])
      idempotency.close()
      audit.close()
      await checkpoints.close()
      await kept.close()
      await driver[Symbol.asyncDispose]()
      await wake.close()
      await way.close()
      await database.close()
    },
  }
}
