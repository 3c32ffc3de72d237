import { Problem } from '@parley/contract/problems'
import type { GitChange, GitDiff } from '@parley/contract/workspace'
import type { Member } from './objects.ts'
import type { Snapshot } from './read.ts'

/* What `git diff` says of a workspace, from the last checkpoint of it. */

const largestText = 1024 * 1024

/** Trees can be written that are small and have no end of members. */
const mostChanges = 100_000

interface Asked {
  path: string
  ref?: string | undefined
}

interface Place {
  base_commit: string | null
  working_dir: string
}

export async function savedChanges(saved: Snapshot, place: Place, { path, ref }: Asked): Promise<GitChange[]> {
  const before = await treeBefore(saved, place, ref)
  const changes = await changedFiles(saved, before, await saved.files('work'))
  const under = relative(place, path)
  return moved(changes).filter((one) => under === '' || one.path === under || one.path.startsWith(`${under}/`))
}

export async function savedDiff(saved: Snapshot, place: Place, { path, ref }: Asked): Promise<GitDiff> {
  const under = relative(place, path)
  const text = async (tree: string | undefined) => {
    const found = tree === undefined ? undefined : await saved.at(tree, under)
    if (found?.kind !== 'file') return null
    if (((await saved.sizes([found.oid])).get(found.oid) ?? 0) > largestText)
      throw new Problem('payload_too_large', 'The file is too large to compare.')
    return (await saved.bytes(found.oid))?.toString('utf8') ?? null
  }
  const original = await text(await treeBefore(saved, place, ref))
  const modified = await text(await saved.files('work'))
  if (original === null && modified === null) throw new Problem('not_found', 'There is no such file.')
  return { original, modified }
}

/** Undefined: nothing was there. */
async function treeBefore(
  saved: Snapshot,
  { base_commit }: Place,
  ref: string | undefined,
): Promise<string | undefined> {
  const wanted = ref ?? base_commit
  if (wanted === null) return undefined
  const tree = await saved.treeOf(wanted)
  if (tree === undefined) throw new Problem('not_found', 'This version is not among what was saved of the sandbox.')
  return tree
}

const relative = ({ working_dir }: Place, path: string): string =>
  (path === working_dir || path.startsWith(`${working_dir}/`) ? path.slice(working_dir.length) : path)
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')

/** Lines are not counted: the contents of the files are not read for a list. */
interface Changed extends Pick<GitChange, 'status' | 'path'> {
  oid: string
}

interface Pair {
  path: string
  before: Member | undefined
  after: Member | undefined
}

/** Level by level, and only where the two differ. */
async function changedFiles(
  saved: Snapshot,
  before: string | undefined,
  after: string | undefined,
): Promise<Changed[]> {
  const folder = (oid: string | undefined): Member | undefined =>
    oid === undefined ? undefined : { name: '', kind: 'folder', executable: false, oid }
  const found: Changed[] = []
  let level: Pair[] = [{ path: '', before: folder(before), after: folder(after) }]
  while (level.length > 0) {
    const open = level.flatMap((pair) => [pair.before, pair.after]).flatMap((one) => (isFolder(one) ? [one.oid] : []))
    const trees = await saved.trees(open)
    const inside = (one: Member | undefined) => (isFolder(one) ? (trees.get(one.oid) ?? []) : [])
    level = level.flatMap((pair) => pairs(pair.path, inside(pair.before), inside(pair.after)))
    if (level.length + found.length > mostChanges)
      throw new Problem('payload_too_large', 'Too many files have changed.')
    for (const pair of level) found.push(...fileChange(pair))
    level = level.filter(({ before, after }) => isFolder(before) || isFolder(after))
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function pairs(path: string, before: readonly Member[], after: readonly Member[]): Pair[] {
  const now = new Map(after.map((one) => [one.name, one]))
  const names = new Set([...before, ...after].map(({ name }) => name))
  const was = new Map(before.map((one) => [one.name, one]))
  return [...names].flatMap((name) => {
    const pair = { path: path === '' ? name : `${path}/${name}`, before: was.get(name), after: now.get(name) }
    return same(pair) ? [] : [pair]
  })
}

const isFolder = (one: Member | undefined): one is Member => one?.kind === 'folder'
const same = ({ before, after }: Pair): boolean =>
  before?.oid === after?.oid && before?.kind === after?.kind && before?.executable === after?.executable

function fileChange({ path, before, after }: Pair): Changed[] {
  const was = before !== undefined && before.kind !== 'folder' ? before : undefined
  const is = after !== undefined && after.kind !== 'folder' ? after : undefined
  if (was !== undefined && is !== undefined) return [{ status: 'UPDATED', path, oid: is.oid }]
  if (is !== undefined) return [{ status: 'ADDED', path, oid: is.oid }]
  return was === undefined ? [] : [{ status: 'DELETED', path, oid: was.oid }]
}

/** A file that went and came back elsewhere unchanged has moved. */
function moved(changes: readonly Changed[]): GitChange[] {
  const gone = new Map(changes.flatMap((one) => (one.status === 'DELETED' ? [[one.oid, one] as const] : [])))
  const left = new Set<Changed>()
  const said = changes.map((one): Changed => {
    const from = one.status === 'ADDED' ? gone.get(one.oid) : undefined
    if (from === undefined || left.has(from)) return one
    left.add(from)
    return { ...one, status: 'MOVED' }
  })
  return said.flatMap((one, index) => {
    const before = changes[index]
    return before !== undefined && left.has(before)
      ? []
      : [{ status: one.status, path: one.path, additions: null, deletions: null }]
  })
}
