import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Parley, parley } from '@parley/client/client'
import { makeKey } from '../../server/src/access/key-format.ts'
import { until } from './house.ts'
import { oftenAsked } from './limits.ts'

/*
 * The real program as a child process, in a process group and a data folder of its own. It can be killed at any moment and
 * started again on the same folder; nothing of it is left when the handle is disposed of.
 */

const main = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
const readyMs = 30_000

export interface Program extends AsyncDisposable {
  readonly dataDir: string
  readonly url: string
  /** Everything it has printed, over all its lives. */
  said(): string
  /** As the owner. */
  client: Parley
  /** Resolves when it serves; rejects with what it said when it ends before. */
  start(): Promise<void>
  /** Sends the signal to the program alone and waits for its end; its exit code, null when it was killed. */
  end(signal: NodeJS.Signals): Promise<number | null>
  /** True when it is not running, for whatever reason. */
  hasEnded(): boolean
  /** Holds the program still, or lets it go on as if no time had passed. */
  freeze(on: boolean): void
  /** The process id of the database's main process. */
  postgres(): Promise<number>
}

export interface ProgramSetup {
  env?: Record<string, string>
  /** The same key on several programs makes their owner one person. */
  key?: string
  dataDir?: string
  /** A program and its arguments that becomes this one. */
  through?: readonly string[]
  /** Leaves the data folder, and what others run on it, as it is. */
  keep?: boolean
}

export async function openProgram({
  env = {},
  key = makeKey('prl'),
  dataDir,
  through = [],
  keep = false,
}: ProgramSetup = {}): Promise<Program> {
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'pp-')))
  let child: ChildProcess | undefined
  /** It serves and was not asked to stop. */
  let isUp = false
  let said = ''
  let url = ''
  let port = '0'
  const environment = () => ({
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    PARLEY_DATA_DIR: folder,
    PARLEY_PORT: port,
    PARLEY_OWNER_API_KEY: key,
    XDG_RUNTIME_DIR: folder,
    ...oftenAsked,
    ...env,
  })
  const client = parley({
    baseUrl: '',
    key,
    timeoutMs: 30_000,
    fetch: (path, init) => fetch(`${url}${String(path)}`, init),
  })
  const stop = () => {
    if (child?.pid !== undefined) killGroup(child.pid)
    if (keep) return
    const database = postmaster(folder)
    if (database !== undefined) kill(database)
  }
  process.once('exit', stop)

  const program: Program = {
    dataDir: folder,
    client,
    get url() {
      return url
    },
    said: () => said,
    async start() {
      const [first = '', ...args] = [...through, process.execPath, main]
      const own = spawn(first, args, {
        env: environment(),
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      child = own
      let heard = ''
      for (const stream of [own.stdout, own.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          heard += text
          said += text
        })
      await until('the program is ready', readyMs, () => {
        if (own.exitCode !== null) throw new Error(`the program ended with ${own.exitCode}: ${heard}`)
        url = /^Parley is ready at (\S+)$/m.exec(heard)?.[1] ?? ''
        return url !== ''
      })
      // The same address after a restart, as clients know it.
      port = new URL(url).port
      isUp = true
    },
    async end(signal) {
      isUp = false
      if (child === undefined || ended(child)) return child?.exitCode ?? null
      const over = once(child, 'exit', { signal: AbortSignal.timeout(20_000) })
      child.kill(signal)
      const [code] = (await over) as [number | null]
      return code
    },
    hasEnded: () => child === undefined || ended(child),
    freeze: (on) => void child?.kill(on ? 'SIGSTOP' : 'SIGCONT'),
    postgres: () => until('the database runs', 10_000, () => postmaster(folder)),
    async [Symbol.asyncDispose]() {
      const crashed = isUp && program.hasEnded()
      process.off('exit', stop)
      await program.end('SIGTERM').catch(() => null)
      stop()
      if (keep) return
      for (const { pid } of await processesIn(folder)) kill(pid)
      await until('all processes of the program are gone', 10_000, async () => (await processesIn(folder)).length === 0)
      await rm(folder, { recursive: true, force: true })
      // To its clients it looked like one that cannot answer now.
      if (crashed) throw new Error(`the program ended by itself: ${said.slice(-2_000)}`)
    },
  }
  return program
}

const ended = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

/** The database outlives the program, so it is ended apart. */
function postmaster(folder: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10)
  } catch {
    return undefined
  }
}

interface Seen {
  pid: number
  args: string[]
}

/** Processes that work in the folder or name it: the database, and whatever sandboxes have left running. */
export async function processesIn(folder: string): Promise<Seen[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const all = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '')
      return { pid: Number(pid), args: line.split('\0'), own: line.includes(folder) || cwd.startsWith(folder) }
    }),
  )
  return all.filter(({ own, pid }) => own && pid !== process.pid)
}

/** How many processes of this machine have the text in their command line, in sandboxes too. */
export const processesNamed = async (text: string): Promise<number> =>
  (await processesIn(text)).filter(({ args }) => args[0] === 'sleep').length

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}
