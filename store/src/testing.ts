import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type Connection, clientConfig } from './connection.ts'
import { type Database, openDatabase } from './database.ts'
import { startPostgres, stopPostgres } from './embedded.ts'
import { type FileLock, lockFile } from './lock.ts'
import { type Migration, migrate } from './migrate.ts'

/*
 * One server for all tests that run at the same time on this checkout, wherever they were started: each process holds a
 * shared lock while it uses it, and who can take that lock alone is the first (and sweeps what killed tests left behind) or
 * the last (and stops the server).
 */

export interface TestDatabase extends AsyncDisposable {
  database: Database
  connection: Exclude<Connection, string>
}

/** A database of its own, dropped at the end. The same `migrations` object is run once in a process and then copied. */
export async function openTestDatabase(migrations: Record<string, Migration> = {}): Promise<TestDatabase> {
  const server = await enter()
  try {
    const template = await server.template(migrations)
    const name = `test_${randomUUID().replaceAll('-', '')}`
    await server.admin(`create database ${name} template ${template} strategy file_copy`)
    const connection = { ...server.connection, database: name }
    const database = openDatabase({ connection, max: 10, applicationName: 'parley test' })
    return {
      database,
      connection,
      async [Symbol.asyncDispose]() {
        await database.close()
        await server.admin(`drop database ${name} with (force)`)
        await leave()
      },
    }
  } catch (error) {
    await leave()
    throw error
  }
}

interface TestServer {
  connection: Exclude<Connection, string>
  admin(statement: string): Promise<void>
  template(migrations: Record<string, Migration>): Promise<string>
  /** Drops the templates that this process made. */
  tidy(): Promise<void>
  users: FileLock
}

const place = createHash('sha256')
  .update(`${import.meta.url} ${userInfo().uid}`)
  .digest('hex')
  .slice(0, 10)
const dir = join(tmpdir(), `parley-test-${place}`)
const runtimeDir = join(dir, 'run')

const lingerMs = 200

/** How often this process is inside, and the server while it is. */
let inside = 0
let current: Promise<TestServer> | undefined

function enter(): Promise<TestServer> {
  inside += 1
  current ??= withDoor(open)
  return current.catch((error: unknown) => {
    inside -= 1
    if (inside === 0) current = undefined
    throw error
  })
}

/** The server is kept for a moment, since most often the next test of the file follows. */
async function leave(): Promise<void> {
  inside -= 1
  if (inside === 0) setTimeout(() => void end().catch(() => {}), lingerMs)
}

async function end(): Promise<void> {
  if (inside > 0 || !current) return
  const server = current
  current = undefined
  const { users, tidy } = await server
  await tidy()
  await withDoor(async () => {
    users.release()
    await stopIfAlone()
  })
}

/** One process at a time decides whether the server starts or stops. */
async function withDoor<R>(work: () => Promise<R>): Promise<R> {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const door = await lockFile(join(dir, 'door.lock'), { waitMs: 60_000 })
  if (!door) throw new Error('Another test run has been starting the database for a minute.')
  try {
    return await work()
  } finally {
    door.release()
  }
}

const start = () =>
  // The data of a test is not worth waiting for the disk.
  startPostgres({
    dataDir: dir,
    runtimeDir,
    log: () => {},
    settings: ['fsync=off', 'max_connections=300'],
    supervise: false,
  })

async function open(): Promise<TestServer> {
  const alone = await lockFile(join(dir, 'users.lock'))
  const { connection } = await start()
  const admin = (statement: string) => administer(connection, statement)
  if (alone) await sweep(connection)
  alone?.release()
  const users = await lockFile(join(dir, 'users.lock'), { shared: true, waitMs: 5_000 })
  if (!users) throw new Error('The lock of the test database is held by a test that is ending.')
  const made = new Map<Record<string, Migration>, Promise<string>>()
  const template = (migrations: Record<string, Migration>) => {
    const known = made.get(migrations) ?? makeTemplate(connection, migrations)
    made.set(migrations, known)
    return known
  }
  const tidy = async () => {
    const names = await Promise.all(made.values())
    for (const name of names) if (name !== 'template0') await admin(`drop database ${name} with (force)`)
  }
  return { connection, admin, template, tidy, users }
}

async function stopIfAlone(): Promise<boolean> {
  const alone = await lockFile(join(dir, 'users.lock'))
  if (!alone) return false
  await stopPostgres(dir)
  alone.release()
  return true
}

async function makeTemplate(server: TestServer['connection'], migrations: Record<string, Migration>): Promise<string> {
  if (Object.keys(migrations).length === 0) return 'template0'
  const name = `base_${randomUUID().replaceAll('-', '')}`
  await administer(server, `create database ${name} template template0 strategy file_copy`)
  const database = openDatabase({ connection: { ...server, database: name }, max: 1, applicationName: 'parley test' })
  try {
    await migrate(database, migrations)
  } finally {
    await database.close()
  }
  return name
}

/** Drops the databases of tests that were killed. */
async function sweep(server: TestServer['connection']): Promise<void> {
  const found = await query(server, `select datname from pg_database where datname ~ '^(test|base)_'`)
  for (const { datname } of found) await administer(server, `drop database ${datname} with (force)`)
}

const administer = async (server: TestServer['connection'], statement: string) => void (await query(server, statement))

async function query(server: TestServer['connection'], statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({
    ...clientConfig(server, 'parley test'),
    statement_timeout: 60_000,
    query_timeout: 60_000,
  })
  await client.connect()
  try {
    return (await client.query(statement)).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}
