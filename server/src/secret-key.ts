import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

/** The key file is there but cannot be used. Secrets in the database are lost without it, so it is never replaced. */
export class SecretKeyError extends Error {
  override name = 'SecretKeyError'
}

/** 32 bytes from base64 text (padding optional), or undefined when it is anything else. */
export function decodeSecretKey(text: string): Buffer | undefined {
  const trimmed = text.trim()
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return undefined
  return Buffer.from(trimmed, 'base64')
}

/**
 * The 32 bytes that close every secret at rest: `given`, else those of `secret.key` in the data folder, which is made on
 * the first start with mode 0600. Two servers that start at once agree on one key. Throws `SecretKeyError`.
 */
export function openSecretKey(dataDir: string, given: Buffer | null): Buffer {
  if (given !== null) return given
  const path = join(dataDir, 'secret.key')
  return readKey(path) ?? makeKeyFile(path)
}

/** A key that is about to take the place of the other: made when it is not there, so that a cut rotation goes on with it. */
export function openNextSecretKey(dataDir: string): Buffer {
  const path = join(dataDir, next)
  return readKey(path) ?? makeKeyFile(path)
}

/** The next key becomes the key, at once and for good. */
export const promoteNextSecretKey = (dataDir: string): void =>
  renameSync(join(dataDir, next), join(dataDir, 'secret.key'))

/** Every key that texts may be closed with, the writing one first: two while a rotation is under way. */
export function openSecretKeys(dataDir: string, given: Buffer | null): [Buffer, ...Buffer[]] {
  const key = openSecretKey(dataDir, given)
  const coming = given === null ? readKey(join(dataDir, next)) : undefined
  return coming === undefined ? [key] : [coming, key]
}

const next = 'secret.key.next'

function readKey(path: string): Buffer | undefined {
  let text: string
  try {
    const seen = statSync(path)
    if ((seen.mode & 0o077) !== 0) chmodSync(path, 0o600)
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new SecretKeyError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
  const key = decodeSecretKey(text)
  if (key === undefined)
    throw new SecretKeyError(`${path} does not hold 32 bytes in base64: restore it from a backup of the data folder`)
  return key
}

/** Written beside it and then linked, so that the name never shows half a key and the first of two writers wins. */
function makeKeyFile(path: string): Buffer {
  const key = randomBytes(32)
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    const file = openSync(draft, 'wx', 0o600)
    writeSync(file, `${key.toString('base64')}\n`)
    fsyncSync(file)
    closeSync(file)
    linkSync(draft, path)
    return key
  } catch (error) {
    const other = readKey(path)
    if (other !== undefined) return other
    throw new SecretKeyError(`${path} cannot be made: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  } finally {
    rmSync(draft, { force: true })
  }
}
