import { type Clock, systemClock } from '@parley/store/clock'
import { type Connection, openDatabase } from '@parley/store/database'
import { openJobs } from '@parley/store/jobs'
import { migrate } from '@parley/store/migrate'
import { openCursor } from '@parley/store/page'
import { openSeal } from '@parley/store/seal'
import { openWake } from '@parley/store/wake'
import { outbound } from '@parley/wire/outbound'
import type { Config } from '../config.ts'
import { freePort } from '../free-port.ts'
import type { Log } from '../log.ts'
import { migrations } from '../migrations/migrations.ts'
import { heard } from '../stirs.ts'

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
  /** No other server is on this database. */
  alone?: boolean
  log: Log
  clock?: Clock
}

/** What every slice stands on. */
export type Foundation = Awaited<ReturnType<typeof openFoundation>>

/** `opened` lets go of what is open already when a later part cannot be opened. */
export async function openFoundation(
  { config, connection, keks, replica, alone = false, log, clock = systemClock }: ServerParts,
  opened: AsyncDisposableStack,
) {
  const said = (message: string, details?: Record<string, unknown>) => log.warn(details ?? {}, message)
  const database = openDatabase({ connection, max: 20, applicationName: `parley ${replica}` })
  opened.defer(() => database.close())
  await migrate(database, migrations)
  const wake = heard(openWake(database, { alone }), database)
  opened.defer(() => wake.close())
  const jobs = openJobs({ database, wake, clock, replica, log: said })
  const seal = await openSeal({ database, keks })
  const cursor = openCursor(keks)
  const way = outbound({ privateHosts: config.privateHosts, timeoutMs: 600_000, idleTimeoutMs: 600_000 })
  opened.defer(() => way.close())
  const port = config.port === 0 ? await freePort(config.host) : config.port
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  const baseUrl = config.baseUrl ?? `http://${host}:${port}`
  /** The way out as a fetch, and one that goes along with redirects. */
  const fetch = way.fetch as typeof globalThis.fetch
  const follow: typeof way.fetch = (url, init) => way.fetch(url, { ...init, redirects: 3 })
  return { config, database, wake, jobs, seal, cursor, clock, way, fetch, follow, port, baseUrl, replica, log, said }
}
