import { spawn } from 'node:child_process'
import { chown, lstat, mkdir, readFile, readlink, rename, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { SandboxSpec } from '../driver.ts'
import { etcFiles } from '../etc.ts'

/** What is remembered of a sandbox beside its files. */
export interface Meta {
  spec: SandboxSpec
  /** Its user outside. */
  uid: number
  paused: boolean
}

const tenantFolders = ['workspace', 'home', 'tmp'] as const

/** What a tenant can write. */
export const writableFolders = (folder: string): string[] => tenantFolders.map((name) => join(folder, name))

/** Parts of the host's /etc that programs need and that say nothing about this machine. */
const shareable = [
  'alternatives',
  'ssl',
  'pki',
  'ca-certificates',
  'ca-certificates.conf',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'fonts',
  'mime.types',
  'magic',
  'protocols',
  'services',
  'python3',
  'perl',
  'terminfo',
  'inputrc',
]

export const tenantUid = (id: string): number =>
  // Above every range that distributions hand out. From the random end of the id, so nobody has to remember who has which.
  process.getuid?.() === 0 ? 1_900_000_000 + (parseInt(id.slice(-7), 16) % 200_000_000) : (process.getuid?.() ?? 0)

/** Makes what is missing of a sandbox's folder; files that are there stay. */
export async function makeFolders(folder: string, meta: Meta, shared: readonly string[]): Promise<void> {
  const etc = join(folder, 'etc')
  await mkdir(etc, { recursive: true, mode: 0o755 })
  await Promise.all([
    ...tenantFolders.map((name) => makeTenantFolder(join(folder, name), meta.uid)),
    ...shared.map((path) => makeTarget(path, join(etc, basename(path)))),
    ...Object.entries(etcFiles(meta.spec)).map(([name, text]) => writeFile(join(etc, name), text, { mode: 0o644 })),
    mkdir(join(folder, 'run'), { recursive: true }),
    writeMeta(folder, meta),
  ])
}

async function makeTenantFolder(path: string, uid: number): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 })
  if (made !== undefined && process.getuid?.() === 0) await chown(path, uid, uid)
}

/** An empty thing of the same kind, for the host's one to be mounted on. */
async function makeTarget(path: string, target: string): Promise<void> {
  if ((await stat(path)).isDirectory()) await mkdir(target, { recursive: true })
  else await writeFile(target, '', { flag: 'a', mode: 0o644 })
}

export async function writeMeta(folder: string, meta: Meta): Promise<void> {
  const path = join(folder, 'meta.json')
  await writeFile(`${path}.new`, JSON.stringify(meta), { mode: 0o600 })
  await rename(`${path}.new`, path)
}

/** Undefined when there is no such sandbox. */
export async function readMeta(folder: string): Promise<Meta | undefined> {
  const text = await readFile(join(folder, 'meta.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  return text === undefined ? undefined : (JSON.parse(text) as Meta)
}

export async function hostEtc(): Promise<string[]> {
  const paths = shareable.map((name) => join('/etc', name))
  const there = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        () => true,
        () => false,
      ),
    ),
  )
  return paths.filter((_, index) => there[index])
}

/** How /bin, /lib and their like are made on this host. */
export async function hostRoot(): Promise<{ links: { path: string; to: string }[]; real: string[] }> {
  const links: { path: string; to: string }[] = []
  const real: string[] = []
  for (const path of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const seen = await lstat(path).catch(() => undefined)
    if (seen?.isSymbolicLink()) links.push({ path, to: await readlink(path) })
    else if (seen?.isDirectory()) real.push(path)
  }
  return { links, real }
}

/** Everything of a sandbox that has ended. The system's `rm` follows no link and knows trees of any depth. */
export async function removeFolder(folder: string): Promise<void> {
  if (await runOnHost(['/bin/rm', '-rf', '--one-file-system', '--', folder])) return
  await runOnHost(['/bin/chmod', '-R', 'u+rwX', '--', folder]) // a tenant of our own uid may have closed its folders
  if (!(await runOnHost(['/bin/rm', '-rf', '--one-file-system', '--', folder])))
    throw new Error(`could not remove ${folder}`)
}

const runOnHost = ([program, ...args]: [string, ...string[]]) =>
  new Promise<boolean>((resolve) => {
    const child = spawn(program, args, { stdio: 'ignore', env: { PATH: '/usr/bin:/bin' } })
    child.on('error', () => resolve(false))
    child.on('close', (code) => resolve(code === 0))
  })
