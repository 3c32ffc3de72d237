import { spawn } from 'node:child_process'
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/*
 * flock(2) belongs to the open file, which this process shares for a moment with the program `flock` of util-linux. The
 * program ends, our descriptor keeps the lock, and the kernel drops it with our last breath: no lock is ever stale. Node
 * opens files close-on-exec, so no other child holds it on. Unlike an abstract socket it also excludes a server in another
 * container that mounts the same directory.
 */

export interface FileLock {
  release(): void
}

export interface LockOptions {
  shared?: boolean
  /** How long to wait for it; 0 asks once. */
  waitMs?: number
}

/** The lock on the file (made when absent), or undefined when others held it for `waitMs`. */
export async function lockFile(
  path: string,
  { shared = false, waitMs = 0 }: LockOptions = {},
): Promise<FileLock | undefined> {
  const fd = openSync(path, 'a+', 0o600)
  const wait = waitMs > 0 ? ['--wait', String(waitMs / 1000)] : ['--nonblock']
  const code = await flock([shared ? '--shared' : '--exclusive', ...wait, '3'], fd).catch((error: unknown) => {
    closeSync(fd)
    throw error
  })
  if (code === 0) return { release: once(() => closeSync(fd)) }
  closeSync(fd)
  return undefined
}

/** Takes the data directory for this process until it ends. Rejects when another Parley has it. */
export async function lockDataDir(dataDir: string): Promise<FileLock> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'parley.lock')
  const lock = await lockFile(path)
  if (!lock) {
    const pid = readFileSync(path, 'utf8').trim()
    throw new Error(`The data directory ${dataDir} is in use by another Parley (pid ${pid || 'unknown'}).`)
  }
  note(path)
  return lock
}

/** For people and for the message above; the lock itself does not read it. */
function note(path: string): void {
  const fd = openSync(path, 'r+')
  ftruncateSync(fd)
  writeSync(fd, `${process.pid}\n`)
  closeSync(fd)
}

function flock(args: string[], fd: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn('flock', args, { stdio: ['ignore', 'ignore', 'ignore', fd] })
    child.on('error', (cause) => reject(new Error('Locking needs the command flock (package util-linux).', { cause })))
    child.on('exit', resolve)
  })
}

function once(fn: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    fn()
  }
}
