import type { GitChange } from '@parley/contract/workspace'

/* Changed files as the folders they are in. Pure. */

export interface Counts {
  additions: number
  deletions: number
}

export interface ChangeFolder extends Counts {
  kind: 'folder'
  /** Of the whole place; the name is what stands in the tree, with folders that hold nothing else joined into one. */
  path: string
  name: string
  inside: ChangeNode[]
}

export interface ChangeFile {
  kind: 'file'
  path: string
  name: string
  change: GitChange
}

export type ChangeNode = ChangeFolder | ChangeFile

/** What was added and taken away in all of them; a file that was not counted counts nothing. */
export const countsOf = (changes: readonly Pick<GitChange, 'additions' | 'deletions'>[]): Counts => ({
  additions: changes.reduce((sum, one) => sum + (one.additions ?? 0), 0),
  deletions: changes.reduce((sum, one) => sum + (one.deletions ?? 0), 0),
})

/** Folders first, each in the order of its names. */
export function treeOf(changes: readonly GitChange[], place = ''): ChangeNode[] {
  const folders = new Map<string, GitChange[]>()
  const files: ChangeFile[] = []
  for (const change of changes) {
    const rest = change.path.slice(place.length)
    const slash = rest.indexOf('/')
    const isInside = slash > 0 && slash < rest.length - 1
    if (!isInside) files.push({ kind: 'file', path: change.path, name: rest, change })
    else {
      const name = rest.slice(0, slash)
      folders.set(name, [...(folders.get(name) ?? []), change])
    }
  }
  const byName = <T extends { name: string }>(all: T[]) => all.toSorted((a, b) => a.name.localeCompare(b.name))
  return [...byName([...folders].map(([name, inside]) => folderOf(name, `${place}${name}/`, inside))), ...byName(files)]
}

function folderOf(name: string, path: string, changes: readonly GitChange[]): ChangeFolder {
  const inside = treeOf(changes, path)
  const [only] = inside
  if (inside.length === 1 && only?.kind === 'folder') return { ...only, name: `${name}/${only.name}` }
  return { kind: 'folder', path, name, inside, ...countsOf(changes) }
}

export type Shown = ChangeNode & { level: number }

/** The lines of the tree from top to bottom, without what is inside of closed folders. */
export const shownIn = (nodes: readonly ChangeNode[], closed: ReadonlySet<string>, level = 1): Shown[] =>
  nodes.flatMap((node) => [
    { ...node, level },
    ...(node.kind === 'folder' && !closed.has(node.path) ? shownIn(node.inside, closed, level + 1) : []),
  ])
