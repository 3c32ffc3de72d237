import type { Hands, RunResult } from '@parley/sandbox/driver'
import {
  commitScript,
  environment,
  forgetScript,
  nestedScript,
  newScript,
  objectsScript,
  relistScript,
  saveScript,
} from './scripts.ts'
import type { ObjectKind } from './store.ts'

/*
 * The state of a working directory as git objects, made in the sandbox: the repository decides what its own configuration
 * makes git do, so nothing of it is ever run outside. What comes out is a tree of a few names: `work` the files, `ignored`
 * small ones that git ignores, `staged` the index, `refs` the branches and `config`.
 */

/** For people: why there is no checkpoint. `broken`: it may help to make the store in the sandbox anew. */
export class CheckpointFailed extends Error {
  override name = 'CheckpointFailed'
  readonly broken: boolean
  constructor(message: string, broken = false) {
    super(message)
    this.broken = broken
  }
}

export interface ListedObject {
  oid: string
  kind: ObjectKind
  size: number
  /** Absent: it has to be asked for. */
  bytes?: Buffer
}

export interface Collected {
  root: string
  /** What the checkpoint before does not have; all of it when there is none. */
  objects: ListedObject[]
  /** Paths that are too large, or could not be read. */
  left: string[]
  unread: boolean
}

export interface Collecting {
  hands: Hands
  dir: string
  /** Names the store in the sandbox. */
  name: string
  base: string | null
  /** Bytes: of one file, and of all that has to be read anew. */
  mostFile: number
  mostAll: number
  /** Ignored files are looked for anew. */
  thorough: boolean
  signal: AbortSignal
}

const timeoutMs = 60_000
const mostListed = 64 * 2 ** 20
/** An ignored file is likely made by a tool; only small ones, such as `.env`, are taken. */
const mostIgnored = 2 ** 20
const mostIgnoredFiles = 500
const mostNested = 3

/** What a checkpoint after a small change comes with at once. */
const atOnce = 2 ** 20

/** @param before Root of the checkpoint before; null: everything is listed. Rejects with `CheckpointFailed`. */
export async function collect(what: Collecting, before: string | null): Promise<Collected> {
  const args = [before ?? '', what.base ?? '', `${atOnce}`, `${what.mostFile}`, what.thorough ? '1' : '0']
  const made = (await attempt(what, [...args, '0'])) ?? (await attempt(what, [...args, '1']))
  if (made === undefined) throw new CheckpointFailed('git did not take the files', true)
  return made
}

/** Undefined: it may go well the second time. */
async function attempt(what: Collecting, args: readonly string[]): Promise<Collected | undefined> {
  for (let round = 0; ; round += 1) {
    const done = await run(what, saveScript, args)
    const [how, rest] = line(done.stdout)
    if (how === 'made') return collected(what, rest, done.code, [])
    const found = listed(rest)
    if (found.nested.length === 0 || round === mostNested) return collectChosen(what, args, found)
    await run(what, nestedScript, found.nested)
  }
}

/** There is much, or something that is not for the script to decide. */
async function collectChosen(what: Collecting, args: readonly string[], found: Listed): Promise<Collected | undefined> {
  const { changed, small, left } = chosen(found, what)
  if (left.length > 0) await run(what, relistScript, ['list'], namesIn(changed))
  if (small.length > 0) await run(what, relistScript, ['small'], namesIn(small))
  const { code, stdout } = await run(what, commitScript, args)
  return collected(what, stdout, code, left)
}

async function collected(
  what: Collecting,
  text: Buffer,
  code: number,
  left: readonly string[],
): Promise<Collected | undefined> {
  if (code === again) return undefined
  const [root, rest] = line(text)
  if (!/^[0-9a-f]{40,64}$/.test(root)) throw new CheckpointFailed('git did not name a tree', true)
  return { root, objects: await objectsIn(what, rest), left: left.map(shown), unread: code === unread }
}

async function objectsIn(what: Collecting, text: Buffer): Promise<ListedObject[]> {
  const [how, rest] = line(text)
  if (how === '') return []
  if (how === 'whole') {
    const objects = wholeObjects(rest)
    if (objects !== undefined) return objects
    return namedObjects((await run(what, newScript, [])).stdout)
  }
  return namedObjects(rest)
}

/** The first line, and what is behind it. */
function line(text: Buffer): [string, Buffer] {
  const end = text.indexOf(10)
  return end < 0
    ? [text.toString('latin1'), Buffer.alloc(0)]
    : [text.toString('latin1', 0, end), text.subarray(end + 1)]
}

/** Throws the store in the sandbox away: everything is read again. */
export const startAnew = async (what: Collecting): Promise<void> => {
  await what.hands.run({ script: forgetScript, args: [what.dir, what.name], timeoutMs, signal: what.signal })
}

/** Bytes of objects, in the order in which they are asked for. */
export async function objectBytes(what: Collecting, objects: readonly ListedObject[]): Promise<Buffer[]> {
  const here = objects.flatMap(({ bytes }) => (bytes === undefined ? [] : [bytes]))
  if (here.length === objects.length) return here
  const size = objects.reduce((sum, one) => sum + one.size + 100, 0)
  const { stdout } = await run(
    what,
    objectsScript,
    objects.map(({ oid }) => oid),
    undefined,
    size + 1_000,
  )
  let at = 0
  return objects.map(({ oid, kind, size }) => {
    const head = `${oid} ${kind} ${size}\n`
    if (stdout.toString('latin1', at, at + head.length) !== head) throw new CheckpointFailed(`git lost object ${oid}`)
    at += head.length + size + 1
    return stdout.subarray(at - size - 1, at - 1)
  })
}

interface Listed {
  /** Names as bytes, one character each. */
  changed: Sized[]
  ignored: Sized[]
  nested: string[]
}

interface Sized {
  name: string
  /** Undefined: it is not there any more. */
  size: number | undefined
}

function listed(text: Buffer): Listed {
  const [changed, afterChanged] = names(text.toString('latin1'))
  const [ignored, rest] = names(afterChanged)
  const [said, saidIgnored] = rest.split('\0')
  const isFolder = (name: string) => name.endsWith('/')
  return {
    changed: sized(
      changed.filter((name) => !isFolder(name)),
      said ?? '',
    ),
    ignored: sized(
      ignored.filter((name) => !isFolder(name)),
      saidIgnored ?? '',
    ),
    nested: changed.filter(isFolder).map((name) => Buffer.from(name, 'latin1').toString('utf8')),
  }
}

const namesIn = (all: readonly string[]): Buffer => Buffer.from(all.map((name) => `${name}\0`).join(''), 'latin1')

/** Up to the empty name, and what stands behind it. */
function names(text: string): [string[], string] {
  const end = text.startsWith('\0') ? 0 : text.indexOf('\0\0') + 1
  return [text.slice(0, end).split('\0').slice(0, -1), text.slice(end + 1)]
}

/** `size name` of each that was there, in the order of the names: a name may have line ends in it, and is looked for whole. */
function sized(all: readonly string[], said: string): Sized[] {
  let at = 0
  return all.map((name) => {
    for (;;) {
      const space = said.indexOf(' ', at)
      if (space < 0) return { name, size: undefined }
      if (said.startsWith(`${name}\n`, space + 1)) {
        const size = Number(said.slice(at, space))
        at = space + name.length + 2
        return { name, size }
      }
      const next = skipFolder(said, at)
      if (next === undefined) return { name, size: undefined }
      at = next
    }
  })
}

/** Folders are listed too, and were left out of the names. */
function skipFolder(said: string, at: number): number | undefined {
  const end = said.indexOf('\n', at)
  return end > at && said[end - 1] === '/' ? end + 1 : undefined
}

function chosen({ changed, ignored }: Listed, { mostFile, mostAll }: Collecting) {
  const fits = ({ size = 0 }: Sized) => size <= mostFile
  const all = changed.filter(fits).reduce((sum, { size = 0 }) => sum + size, 0)
  if (all > mostAll) throw new CheckpointFailed(`the files to be saved have ${mebibytes(all)}`)
  return {
    changed: changed.filter(fits).map(({ name }) => name),
    small: ignored
      .flatMap(({ name, size }) => (size !== undefined && size <= mostIgnored ? [name] : []))
      .slice(0, mostIgnoredFiles),
    left: changed.filter((one) => !fits(one)).map(({ name }) => name),
  }
}

/** Undefined: there is more than could be shown. */
function wholeObjects(text: Buffer): ListedObject[] | undefined {
  const found = new Map<string, ListedObject>()
  for (let rest = text; rest.length > 0;) {
    const [head, behind] = line(rest)
    if (rest.length === head.length) return undefined
    const object = objectOf(head)
    if (behind.length <= object.size) return undefined
    found.set(object.oid, { ...object, bytes: behind.subarray(0, object.size) })
    rest = behind.subarray(object.size + 1)
  }
  return text.length >= atOnce ? undefined : [...found.values()]
}

function namedObjects(text: Buffer): ListedObject[] {
  const lines = text.toString('latin1').split('\n').slice(0, -1)
  return [...new Map(lines.map(objectOf).map((object) => [object.oid, object])).values()]
}

function objectOf(said: string): ListedObject {
  const [, oid, kind, size] = /^([0-9a-f]+) (commit|tree|blob|tag) (\d+)( |$)/.exec(said) ?? []
  if (oid === undefined) throw new CheckpointFailed('an object of the repository is missing', true)
  return { oid, kind: kind as ObjectKind, size: Number(size) }
}

/** Codes that say how it went. */
const [unread, again] = [6, 7]

const reasons: Record<number, string> = {
  3: 'the working directory is gone',
  4: 'there is no git in the sandbox',
  124: 'git took too long',
}

async function run(
  { hands, dir, name, signal }: Collecting,
  script: string,
  args: readonly string[],
  stdin?: Uint8Array,
  maxBytes = mostListed,
): Promise<RunResult> {
  const input = stdin === undefined ? {} : { stdin }
  const all = { script, args: [dir, name, ...args], env: environment, timeoutMs, maxBytes, signal, ...input }
  const done = await hands.run(all)
  if (![0, unread, again].includes(done.code)) {
    const said = done.stderr.trim().split('\n')[0] || `ended with code ${done.code}`
    throw new CheckpointFailed(reasons[done.code] ?? `git: ${said}`, !(done.code in reasons))
  }
  if (done.truncated) throw new CheckpointFailed('there are too many files')
  return done
}

const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`
const shown = (name: string): string => Buffer.from(name, 'latin1').toString('utf8')
