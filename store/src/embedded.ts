import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Connection, clientConfig } from './connection.ts'
import { type Cluster, clusterPid, isPostgres, lastWords, makeCluster, openCluster } from './embedded-cluster.ts'
import { diskGuard } from './embedded-disk.ts'
import { type Launcher, openLauncher } from './embedded-launcher.ts'

/*
 * The PostgreSQL that comes with Parley: one per data directory, on a unix socket only. It runs in a session of its own and
 * so outlives a server that is killed; the next server adopts it instead of starting another. While supervised it is
 * started again whenever it dies. Its account has a random password beside the data (0600), although the socket's
 * directory is already closed to everyone else (0700): a sandbox that was given too much of /tmp still cannot log in.
 */

export type Log = (message: string, details?: Record<string, unknown>) => void

export interface PostgresOptions {
  /** Holds `postgres/` (the cluster), `postgres.log` and `postgres.password`. */
  dataDir: string
  /** Short: the socket's path must fit 107 bytes. Made when absent, 0700. */
  runtimeDir: string
  log: Log
  /** Further settings as `name=value`. */
  settings?: string[]
  /** Start it again when it dies (default true). */
  supervise?: boolean
}

export interface Postgres {
  connection: Exclude<Connection, string>
  /** Of the server that runs now; undefined while none does. */
  readonly pid: number | undefined
  /** Ends supervision and the server (fast shutdown), and resolves when its process is gone. */
  stop(): Promise<void>
  /** Ends supervision only; the server runs on. */
  leave(): void
}

const startMs = 30_000
const stopMs = 20_000
const watchMs = 200
const longestPauseMs = 2_000

/** Lean when idle, and nothing that could lose an acknowledged commit is turned off. */
const settings = [
  'listen_addresses=',
  'shared_buffers=48MB',
  'max_connections=60',
  'max_worker_processes=1',
  'max_parallel_workers=0',
  'max_parallel_workers_per_gather=0',
  'max_logical_replication_workers=0',
  'max_wal_senders=0',
  'wal_level=minimal',
  'io_method=sync',
  'jit=off',
  'max_wal_size=256MB',
  'min_wal_size=64MB',
  'fsync=on',
  'full_page_writes=on',
  'synchronous_commit=on',
  'password_encryption=scram-sha-256',
  'logging_collector=off',
  'log_min_messages=log', // a statement's own error is told to its caller
  'log_checkpoints=off',
]

/** Makes the cluster when there is none, adopts or starts its server, and resolves when it answers. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { dataDir, runtimeDir, log, supervise = true } = options
  if (Buffer.byteLength(join(runtimeDir, '.s.PGSQL.5432')) > 107)
    throw new Error(`The path ${runtimeDir} is too long for a socket.`)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const cluster = openCluster(dataDir)
  const password = passwordOf(join(dataDir, 'postgres.password'))
  const launcher = await openLauncher(cluster, runtimeDir)
  if (cluster.isNew()) await makeCluster(cluster, launcher, password)
  const connection = { host: runtimeDir, user: 'parley', password, database: 'postgres' }
  const server = { cluster, launcher, connection, settings: [...settings, ...(options.settings ?? [])], log }
  await ready(server)
  const watch = supervise ? supervisor(server) : () => {}
  return {
    connection,
    get pid() {
      return clusterPid(cluster)
    },
    leave: watch,
    async stop() {
      watch()
      await stopServer(cluster)
    },
  }
}

interface Server {
  cluster: Cluster
  launcher: Launcher
  connection: Postgres['connection']
  settings: string[]
  log: Log
}

/** Adopts the running server or starts one, until it answers or 30 s are over. */
async function ready(
  { cluster, launcher, connection, settings: flags, log }: Server,
  stopped?: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + startMs
  let running = clusterPid(cluster) !== undefined
  if (running) log('The database was already running and is adopted.', { pid: clusterPid(cluster) })
  let from = cluster.logSize()
  for (let pause = 10; ; pause = Math.min(pause * 1.5, 500)) {
    if (!running) {
      from = cluster.logSize()
      cluster.dropStalePid()
      running = launcher.start(flags.flatMap((flag) => ['-c', flag]))
    }
    if (await answers(connection)) return
    const words = lastWords(cluster, from)
    const over = stopped?.aborted || performance.now() > deadline
    if (launcher.ended() && clusterPid(cluster) === undefined) {
      if (over || !isPassing(words)) throw new Error(cannotStart(cluster, words))
      running = false
    } else if (over) throw new Error(cannotStart(cluster, words))
    await sleep(pause)
  }
}

/** The remains of a killed server vanish within seconds. */
const isPassing = (words: string): boolean =>
  /lock file|shared memory block|still in use|Address already in use/i.test(words)

function cannotStart(cluster: Cluster, words: string): string {
  if (/No space left on device/i.test(words)) return `The database cannot start: the disk of ${cluster.dir} is full.`
  return `The database in ${cluster.dir} cannot start: ${words || 'it did not answer within 30 s.'}`
}

async function answers(connection: Postgres['connection']): Promise<boolean> {
  if (!existsSync(join(connection.host, '.s.PGSQL.5432'))) return false
  const client = new pg.Client(clientConfig(connection, 'parley supervisor'))
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch (error) {
    // 28P01: it runs, and waiting cannot make a password right.
    if (error instanceof pg.DatabaseError && error.code === '28P01') throw error
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

/** Looks at the process, also one that is not our child; returns what ends it. */
function supervisor(server: Server): () => void {
  const stopped = new AbortController()
  const disk = diskGuard(server.cluster.dir, server.connection, server.log)
  const watch = async () => {
    let pause = watchMs
    while (!stopped.signal.aborted) {
      await sleep(pause, undefined, { signal: stopped.signal, ref: false })
      if (clusterPid(server.cluster) !== undefined) {
        // Looked at again in a second when the database does not answer now.
        await disk.look().catch(() => {})
        continue
      }
      server.log('The database has ended and is started again.')
      pause = await ready(server, stopped.signal).then(
        () => watchMs,
        (error: unknown) => {
          server.log('The database could not be started again.', { error })
          return Math.min(pause * 2, longestPauseMs)
        },
      )
    }
  }
  // Ends by the abort of its sleep.
  watch().catch(() => {})
  return () => stopped.abort()
}

/** Stops the server of the data directory, whoever started it. At once when none runs. */
export const stopPostgres = async (dataDir: string): Promise<void> => stopServer(openCluster(dataDir))

async function stopServer(cluster: Cluster): Promise<void> {
  const pid = clusterPid(cluster)
  if (pid === undefined) return
  process.kill(pid, 'SIGINT')
  if (await gone(pid, stopMs)) return
  process.kill(pid, 'SIGQUIT')
  if (!(await gone(pid, 5_000))) throw new Error(`The database (pid ${pid}) does not stop.`)
}

async function gone(pid: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs
  while (isPostgres(pid)) {
    if (performance.now() > deadline) return false
    await sleep(10)
  }
  return true
}

function passwordOf(path: string): string {
  if (!existsSync(path)) writeFileSync(path, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' })
  return readFileSync(path, 'utf8')
}
