/*
 * How much the files of a sandbox take, on any file system and without rights: counted, by `du`, which follows no link.
 * Counting costs, so it is done when the disk as a whole has filled up noticeably since the last time, one sandbox after
 * the other, and the more rarely the longer it takes. So a sandbox can go beyond its limit for a moment; then it is told.
 * An empty file counts as one of 4 KiB. Not counted is what was removed while it is still open: it goes with the programs
 * that hold it.
 */
import { execFile } from 'node:child_process'
import { statfs } from 'node:fs/promises'

export interface DiskWatch {
  /** For people: that the limit is reached; undefined when it is not. */
  full(): string | undefined
  close(): void
}

export interface Disk {
  /** Bytes in use. Undefined when they could not be counted: then what was known holds. */
  inUse(): Promise<number | undefined>
  /** Falls as bytes or files are written where these files lie, in bytes; -Infinity when nobody knows. */
  free(): Promise<number>
}

export interface DiskWatchOptions {
  disk: Disk
  /** Bytes. */
  limit: number
  /** Called with the reason whenever more is in use than the limit and than at the last call. */
  onFull: (reason: string) => void
  inTurn: OneByOne
  /** Time between two looks. 1 s unless said. */
  lookMs?: number
}

const countAtLeastMs = 60_000
const countDeadlineMs = 60_000
const mebibyte = 2 ** 20

export function watchDisk({ disk, limit, onFull, inTurn, lookMs = 1_000 }: DiskWatchOptions): DiskWatch {
  const noticeable = Math.min(limit / 16, 64 * mebibyte)
  let used = 0
  /** What was in use when it was last told: who is over the limit may go on as long as it does not grow. */
  let told = Infinity
  let [freeThen, countedAt, tookMs, closed] = [-Infinity, 0, 0, false]
  let timer: NodeJS.Timeout
  const count = async () => {
    const began = performance.now()
    // Who cannot be asked now is asked again; an error here would be one that nobody hears.
    const found = await inTurn(async () => (closed ? undefined : disk.inUse())).catch(() => undefined)
    if (found === undefined) freeThen = Infinity
    used = found ?? used
    countedAt = performance.now()
    tookMs = countedAt - began
    if (closed) return
    if (used <= limit) told = 0
    else if (told === Infinity) told = used
    else if (used > told) onFull(textOf((told = used), limit))
  }
  const look = async () => {
    const free = await disk.free().catch(() => -Infinity)
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

/** What a program of this machine prints, whatever its exit code; undefined when it printed nothing or took too long. */
export type Printed = (argv: readonly [string, ...string[]], timeoutMs: number) => Promise<string | undefined>

/** A file takes so much at the least, also an empty one: so what is made of nothing but names comes to an end too. */
export const leastFile = 4096
/** All sandboxes look at the same disk. */
const sharedMs = 500

/** Folders of this machine, all on one file system. */
export function localDisks(printed: Printed = onThisMachine): (folders: readonly string[]) => Disk {
  let seen: { at: number; free: Promise<number> } | undefined
  return (folders) => ({
    inUse: () => inUse(folders, printed),
    free() {
      const at = performance.now()
      if (seen === undefined || at - seen.at > sharedMs) seen = { at, free: freeBytes(folders[0] ?? '/') }
      return seen.free
    },
  })
}

const freeBytes = (path: string): Promise<number> =>
  statfs(path).then(
    ({ bavail, bsize, ffree }) => bavail * bsize + ffree * leastFile,
    () => -Infinity,
  )

async function inUse(folders: readonly string[], printed: Printed): Promise<number | undefined> {
  const script = 'export LC_ALL=C; du -s -c -x -B1 -- "$@"; du -s -c -x --inodes -- "$@"'
  // It fails for a file that went while it counted, and says a sum all the same.
  const text = await printed(['/bin/sh', '-c', script, 'sh', ...folders], countDeadlineMs)
  const [bytes, files] = [...(text ?? '').matchAll(/^(\d+)\ttotal$/gm)].map(([, total]) => Number(total))
  return bytes === undefined || files === undefined ? undefined : Math.max(bytes, files * leastFile)
}

const onThisMachine: Printed = ([program, ...args], timeout) =>
  new Promise((resolve) => {
    const options = { env: { PATH: '/usr/bin:/bin' }, timeout }
    execFile(program, args, options, (_, stdout) => resolve(stdout === '' ? undefined : stdout))
  })
