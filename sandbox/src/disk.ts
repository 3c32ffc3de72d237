/*
 * How much the files of a sandbox take, on any file system and without rights: counted, by `du`, which follows no link.
 * Counting costs, so it is done when the disk as a whole has filled up noticeably since the last time, one sandbox after
 * the other, and the more rarely the longer it takes. So a sandbox can go beyond its limit for a moment; then it is told.
 * Not counted is what was removed while it is still open: it goes with the programs that hold it.
 */
import { execFile } from 'node:child_process'
import { statfs } from 'node:fs/promises'

export interface DiskWatch {
  /** For people: that the limit is reached; undefined when it is not. */
  full(): string | undefined
  close(): void
}

export interface DiskWatchOptions {
  /** Everything counted; on one file system. */
  folders: readonly string[]
  /** Bytes. */
  limit: number
  /** Called with the reason whenever more is in use than the limit and than at the last call. */
  onFull: (reason: string) => void
  inTurn: OneByOne
}

const lookMs = 1_000
const countAtLeastMs = 60_000
const countDeadlineMs = 60_000
const mebibyte = 2 ** 20

export function watchDisk({ folders, limit, onFull, inTurn }: DiskWatchOptions): DiskWatch {
  const noticeable = Math.min(limit / 16, 64 * mebibyte)
  let used = 0
  /** What was in use when it was last told: who is over the limit may go on as long as it does not grow. */
  let told = Infinity
  let [freeThen, countedAt, tookMs, closed] = [-Infinity, 0, 0, false]
  let timer: NodeJS.Timeout
  const count = async () => {
    const began = performance.now()
    used = (await inTurn(() => (closed ? Promise.resolve(undefined) : inUse(folders)))) ?? used
    countedAt = performance.now()
    tookMs = countedAt - began
    if (closed) return
    if (used <= limit) told = 0
    else if (told === Infinity) told = used
    else if (used > told) onFull(textOf((told = used), limit))
  }
  const look = async () => {
    const free = await freeBytes(folders[0] ?? '/')
    const since = performance.now() - countedAt
    if (free < freeThen - noticeable || told === Infinity || since > countAtLeastMs) {
      if (since > 20 * tookMs) {
        freeThen = free
        await count()
      }
    } else freeThen = Math.max(free, freeThen)
    if (!closed) timer = setTimeout(() => void look(), lookMs).unref()
  }
  timer = setTimeout(() => void look(), lookMs).unref()
  return {
    full: () => (used > limit ? textOf(used, limit) : undefined),
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

const textOf = (used: number, limit: number) =>
  `disk limit of ${Math.round(limit / mebibyte)} MiB reached: ${Math.round(used / mebibyte)} MiB in use`

export type OneByOne = <T>(work: () => Promise<T>) => Promise<T>

/** Runs one piece of work after the other. */
export function oneByOne(): OneByOne {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work)
    last = mine.catch(() => undefined)
    return mine
  }
}

const freeBytes = (path: string) =>
  statfs(path).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => -Infinity,
  )

/** Bytes on disk. Undefined when they could not be counted: then what was known holds. */
const inUse = (folders: readonly string[]): Promise<number | undefined> =>
  new Promise((resolve) => {
    const args = ['-s', '-c', '-x', '-B1', '--', ...folders]
    const options = { env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, timeout: countDeadlineMs }
    // It fails for a file that went while it counted, and says a sum all the same.
    execFile('/usr/bin/du', args, options, (_, stdout) => {
      const total = /^(\d+)\ttotal$/m.exec(stdout)?.[1]
      resolve(total === undefined ? undefined : Number(total))
    })
  })
