import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'

/** A folder that others can read, and that we may not or should not close to them. */
export class UnsafeFolder extends Error {
  override name = 'UnsafeFolder'
}

/**
 * Makes the folder for the user who runs the server only (mode 0700, whatever the umask; passing through, as in 0711, may
 * be allowed later). An empty folder that is
 * open to others is closed; one that already holds something is refused, for it may not be meant for us alone (`/tmp`).
 * Throws `UnsafeFolder` with a line for the operator.
 */
export function openPrivateFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const seen = statSync(path)
    const self = process.getuid?.()
    if (self !== undefined && seen.uid !== self)
      throw new UnsafeFolder(`${path} belongs to user ${seen.uid}, but the server runs as user ${self}`)
    if ((seen.mode & 0o066) !== 0) close(path, seen.mode)
    return path
  } catch (error) {
    if (error instanceof UnsafeFolder) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new UnsafeFolder(`${path} cannot be used as a private folder: ${why}`, { cause: error })
  }
}

function close(path: string, mode: number): void {
  if (readdirSync(path).length > 0) {
    const seen = (mode & 0o777).toString(8).padStart(4, '0')
    throw new UnsafeFolder(
      `${path} is open to other users (mode ${seen}); if it is meant for Parley alone: chmod 700 '${path}'`,
    )
  }
  chmodSync(path, 0o700)
}
