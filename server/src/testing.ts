import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, systemClock } from '@parley/store/clock'
import { openTestDatabase } from '@parley/store/testing'
import { type Caller, caller } from '@parley/wire/call'
import { makeKey } from './access/key-format.ts'
import { type Config, readConfig } from './config.ts'
import { openLog } from './log.ts'
import { migrations } from './migrations/migrations.ts'
import { openServer, type Server } from './server.ts'

/*
 * The whole server for a test: its own database, its own folder for sandboxes, a port of its own, real HTTP. Everything goes
 * when the test ends.
 */

export interface TestServer extends AsyncDisposable {
  server: Server
  url: string
  /** Calls as a person of this name, who is made at the first use. */
  as(name: string): Promise<Caller>
  keyOf(name: string): Promise<string>
  /** Every byte of text the server has sent to callers made by `as`. */
  said(): string
}

export interface TestServerOptions {
  env?: Record<string, string>
  privateHosts?: readonly string[]
  /** The system's unless said. */
  clock?: Clock
}

export async function openTestServer({
  env = {},
  privateHosts = [],
  clock = systemClock,
}: TestServerOptions = {}): Promise<TestServer> {
  const test = await openTestDatabase(migrations)
  const dir = mkdtempSync(join(tmpdir(), 'pt-'))
  const config: Config = readConfig({
    PARLEY_PORT: '0',
    PARLEY_DATA_DIR: dir,
    PARLEY_LOG_LEVEL: 'silent',
    PARLEY_PRIVATE_HOSTS: privateHosts.join(','),
    ...env,
  })
  const server = await openServer({
    config,
    connection: test.connection,
    keks: [randomBytes(32)],
    stateDir: join(dir, 'sandboxes'),
    runtimeDir: join(dir, 'run'),
    replica: 'test',
    log: openLog(config.logLevel),
    clock,
  })
  const keys = new Map<string, Promise<string>>()
  let heard = ''
  const listening: typeof fetch = async (...args) => {
    const response = await fetch(...args)
    const text = response.headers.get('content-type')?.includes('json') ? await response.clone().text() : ''
    heard += text
    return response
  }

  const keyOf = (name: string): Promise<string> => {
    const known = keys.get(name) ?? person(server, name)
    keys.set(name, known)
    return known
  }

  return {
    server,
    url: server.url,
    keyOf,
    as: async (name) => caller({ baseUrl: server.url, key: await keyOf(name), fetch: listening }),
    said: () => heard,
    async [Symbol.asyncDispose]() {
      await server.close(1_000)
      await test[Symbol.asyncDispose]()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function person(server: Server, name: string): Promise<string> {
  const key = makeKey('prl')
  await server.access.ensureKey(await server.users.ensureMember(`${name}@example.com`), key, name)
  return key
}
