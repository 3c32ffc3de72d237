import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPrivateFolder, UnsafeFolder } from './data-dir.ts'

/** A socket's path may have 107 bytes on Linux and 103 on macOS; what stands below this folder takes up to 56 of them. */
const longest = 47

/**
 * A short folder for sockets, the same at every start with this data folder, mode 0700 and ours. It stands in `base`
 * (XDG_RUNTIME_DIR) when that is short enough, else in the system's folder for temporary files. Throws `UnsafeFolder`.
 */
export function openRuntimeDir(dataDir: string, base: string | null): string {
  const name = `parley-${createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 12)}`
  const places = [base, tmpdir(), '/tmp'].filter((place) => place !== null).map((place) => join(place, name))
  const path = places.find((place) => Buffer.byteLength(place) <= longest)
  if (path === undefined) throw new UnsafeFolder(`no folder for sockets has a short enough path: ${places.join(', ')}`)
  openPrivateFolder(path)
  if (!lstatSync(path).isDirectory()) throw new UnsafeFolder(`${path} is a link, where a folder for sockets should be`)
  return path
}

const noted = (dataDir: string): string => join(dataDir, 'runtime-dir')

/** Says where the sockets of the server on this data folder are, for an errand that is run in another environment. */
export const noteRuntimeDir = (dataDir: string, runtimeDir: string): void =>
  writeFileSync(noted(dataDir), `${runtimeDir}\n`, { mode: 0o600 })

/** Of the server that runs on this data folder. */
export const notedRuntimeDir = (dataDir: string): string => readFileSync(noted(dataDir), 'utf8').trim()
