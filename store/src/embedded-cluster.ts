import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Launcher } from './embedded-launcher.ts'

/** The files of one PostgreSQL cluster. */
export interface Cluster {
  dir: string
  logFile: string
  isNew(): boolean
  logSize(): number
  /** Removes the pid file of a server that is no more (its pid may be a zombie, or another program's by now). */
  dropStalePid(): void
}

const major = '18'
const logLimit = 4_000_000

/** Looks at the directory. Throws when another major version of PostgreSQL made it. */
export function openCluster(dataDir: string): Cluster {
  const dir = join(dataDir, 'postgres')
  const logFile = join(dataDir, 'postgres.log')
  const versionFile = join(dir, 'PG_VERSION')
  const isNew = () => !existsSync(versionFile)
  const version = isNew() ? major : readFileSync(versionFile, 'utf8').trim()
  if (version !== major)
    throw new Error(`The database in ${dir} was made by PostgreSQL ${version}; this Parley has ${major}.`)
  const logSize = () => (existsSync(logFile) ? statSync(logFile).size : 0)
  if (logSize() > logLimit) renameSync(logFile, `${logFile}.old`)
  const cluster = {
    dir,
    logFile,
    isNew,
    logSize,
    dropStalePid: () => clusterPid(cluster) === undefined && rmSync(join(dir, 'postmaster.pid'), { force: true }),
  }
  return cluster
}

/** The pid of the server that runs on this cluster now. */
export function clusterPid({ dir }: { dir: string }): number | undefined {
  const text = read(join(dir, 'postmaster.pid'))
  const pid = Number(text?.split('\n', 1)[0])
  return Number.isInteger(pid) && pid > 1 && isPostgres(pid) ? pid : undefined
}

/** A killed server that nobody has reaped yet still has a pid; it counts as gone. */
export function isPostgres(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`)
  return stat !== undefined && stat.includes('(postgres)') && !/\) [ZX]/.test(stat)
}

/** `initdb` into a fresh directory; a half-made one is made anew. */
export async function makeCluster(cluster: Cluster, launcher: Launcher, password: string): Promise<void> {
  launcher.freshDir()
  const file = join(cluster.dir, '..', 'postgres.initdb')
  writeFileSync(file, password, { mode: 0o600 })
  try {
    const { code, output } = await launcher.initdb(file)
    if (code === 0) return
    rmSync(cluster.dir, { recursive: true, force: true })
    const full = /No space left on device/i.test(output)
    throw new Error(
      full
        ? `The database cannot be made: the disk of ${cluster.dir} is full.`
        : `The database cannot be made: ${output.trim().slice(-600)}`,
    )
  } finally {
    rmSync(file, { force: true })
  }
}

/** The last lines that the server wrote to its log after `from`, on one line. */
export function lastWords({ logFile }: Cluster, from: number): string {
  if (!existsSync(logFile)) return ''
  const fd = openSync(logFile, 'r')
  const bytes = Buffer.alloc(8_192)
  const size = statSync(logFile).size
  const got = readSync(fd, bytes, 0, bytes.length, Math.max(from, size - bytes.length, 0))
  closeSync(fd)
  return bytes.toString('utf8', 0, got).trim().split('\n').slice(-4).join(' | ')
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
