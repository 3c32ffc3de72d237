/*
 * The folder of one sandbox on this machine: what a tenant can write, and what is remembered of the sandbox beside it.
 */
import { spawn } from 'node:child_process'
import { chmod, chown, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { SandboxGone, type SandboxSpec } from './driver.ts'

/** What is remembered of a sandbox beside its files. */
export interface Meta {
  spec: SandboxSpec
  /** Its user outside. */
  uid: number
  paused: boolean
  /** Absent: it has some. */
  walls?: false
}

const tenantFolders = ['workspace', 'home', 'tmp'] as const

/** What a tenant can write. */
export const writableFolders = (folder: string): string[] => tenantFolders.map((name) => join(folder, name))

export const tenantUid = (id: string): number =>
  // Above every range that distributions hand out. From the random end of the id, so nobody has to remember who has which.
  process.getuid?.() === 0 ? 1_900_000_000 + (parseInt(id.slice(-7), 16) % 200_000_000) : (process.getuid?.() ?? 0)

/** Made where missing; they belong to this user when we may give them away. Files that are there stay. */
export async function makeTenantFolders(folder: string, uid: number, mode = 0o700): Promise<void> {
  await Promise.all(
    writableFolders(folder).map(async (path) => {
      if ((await mkdir(path, { recursive: true, mode: 0o700 })) === undefined) return
      if (mode !== 0o700) await chmod(path, mode)
      if (process.getuid?.() === 0) await chown(path, uid, uid)
    }),
  )
}

export async function writeMeta(folder: string, meta: Meta): Promise<void> {
  const path = join(folder, 'meta.json')
  await writeFile(`${path}.new`, JSON.stringify(meta), { mode: 0o600 })
  await rename(`${path}.new`, path)
}

/** Rejects with `SandboxGone` when there is no such sandbox. */
export async function rememberPaused(folder: string, paused: boolean): Promise<void> {
  const meta = await readMeta(folder)
  if (meta === undefined) throw new SandboxGone(`there is no sandbox ${basename(folder)}`)
  await writeMeta(folder, { ...meta, paused })
}

/** Undefined when there is no such sandbox. */
export async function readMeta(folder: string): Promise<Meta | undefined> {
  const text = await readFile(join(folder, 'meta.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  return text === undefined ? undefined : (JSON.parse(text) as Meta)
}

/** Runs a program of this machine; resolves with whether it ended well. */
export type RunOnHost = (argv: readonly [string, ...string[]]) => Promise<boolean>

/** Everything of a sandbox that has ended. The system's `rm` follows no link and knows trees of any depth. */
export async function removeFolder(folder: string, run: RunOnHost = runOnHost): Promise<void> {
  if (await run(['/bin/rm', '-rf', '--one-file-system', '--', folder])) return
  await run(['/bin/chmod', '-R', 'u+rwX', '--', folder]) // a tenant of our own uid may have closed its folders
  if (!(await run(['/bin/rm', '-rf', '--one-file-system', '--', folder]))) throw new Error(`could not remove ${folder}`)
}

const runOnHost: RunOnHost = ([program, ...args]) =>
  new Promise<boolean>((resolve) => {
    const child = spawn(program, args, { stdio: 'ignore', env: { PATH: '/usr/bin:/bin' } })
    child.on('error', () => resolve(false))
    child.on('close', (code) => resolve(code === 0))
  })
