import { join } from 'node:path'
import { Problem } from '@parley/contract/problems'
import type { Finding } from '@parley/sandbox/driver'
import type { Config } from '../config.ts'
import { type Log, openLog } from '../log.ts'
import { openServer } from '../server.ts'
import { examine, line } from './doctor.ts'
import { openGround } from './ground.ts'
import { stopInTime } from './stop.ts'

/** Serves until a signal says stop. Standard output tells a person what goes on; its last line says where it is ready. */
export async function serveUntilStopped(config: Config): Promise<number> {
  const tell = (line: string) => void process.stdout.write(`${line}\n`)
  const stopped = stopSignal()
  const log = openLog(config.logLevel)
  // Looked at while the database starts; a sandbox is needed later.
  const examined = examine(config, tell)
  examined.catch(() => {})
  const ground = await openGround(config, tell)
  try {
    const server = await openServer({
      config,
      connection: ground.connection,
      keks: ground.keks,
      stateDir: join(ground.dataDir, 'sandboxes'),
      runtimeDir: join(ground.runtimeDir, 's'),
      replica: ground.replica,
      // A database of our own lies in our data folder, which is locked.
      alone: config.databaseUrl === null,
      log,
    }).catch((error: unknown) => {
      throw plain(error, config)
    })
    try {
      const findings = await examined
      mustIsolate(findings, log)
      if (config.unisolated) for (const one of findings) if (!one.ok) tell(line(one))
      await greet(config, server, tell)
      tell(`Parley is ready at ${server.url}`)
      await stopped
    } finally {
      await stopInTime(server, log)
    }
  } finally {
    await ground.close()
  }
  return 0
}

type Server = Awaited<ReturnType<typeof openServer>>

/** The owner's first key when one is given, and the link with which the owner takes the account. */
async function greet(config: Config, { users, access, url }: Server, tell: (line: string) => void): Promise<void> {
  const owner = await users.ensureOwner(config.ownerEmail)
  if (config.ownerApiKey !== null) await access.ensureKey(owner.id, config.ownerApiKey, 'from PARLEY_OWNER_API_KEY')
  if (owner.claimed) return
  tell('Sign in as the owner (this link works once, within an hour):')
  tell(`  ${url}/sign-in?token=${await users.claimToken(owner.id)}`)
}

/** Sandboxes that do not isolate are no sandboxes: without them nothing is served. */
function mustIsolate(findings: readonly Finding[], log: Log): void {
  const wrong = findings.filter((finding) => !finding.ok)
  const fatal = wrong.filter((finding) => finding.fatal)
  for (const finding of wrong) log.warn({ check: finding.check, fix: finding.fix }, finding.detail)
  if (fatal.length > 0) throw new Error(`This machine cannot isolate sandboxes.\n${fatal.map(line).join('\n')}`)
}

/** The first signal asks for an orderly stop, the second does not wait. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (asked) process.exit(130)
        asked = true
        resolve()
      })
  })
}

/** What an operator can do something about, said so. */
function plain(error: unknown, config: Config): unknown {
  if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
    return new Error(`The port ${config.port} on ${config.host} is in use. Set PARLEY_PORT to another one.`, {
      cause: error,
    })
  if (!(error instanceof Problem && error.code === 'unavailable') || config.databaseUrl === null) return error
  const { host, pathname } = new URL(config.databaseUrl)
  const why = error.cause instanceof Error ? `: ${error.cause.message.split('\n')[0]}` : ''
  return new Error(`The database ${host}${pathname} of DATABASE_URL cannot be used${why}`, { cause: error })
}
