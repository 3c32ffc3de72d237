import { bytesOf, type Member, membersOf } from './objects.ts'
import type { Checkpoint, CheckpointStore } from './store.ts'

/* The last checkpoint of a conversation as a file system that can only be read: folders, files and what commits they had. */

export type Snapshot = ReturnType<typeof snapshotOf>

export interface Found extends Omit<Member, 'name'> {
  path: string
}

export const openSnapshot =
  (store: CheckpointStore) =>
  async (conversation: string): Promise<Snapshot | undefined> => {
    const id = (await store.workplace(conversation))?.id ?? conversation
    const last = await store.last(id)
    return last === undefined ? undefined : snapshotOf(store, id, last)
  }

function snapshotOf(store: CheckpointStore, id: string, checkpoint: Checkpoint) {
  const oidBytes = checkpoint.root.length / 2

  async function bytes(oid: string): Promise<Buffer | undefined> {
    const [object] = await store.objects(id, [oid])
    return object === undefined ? undefined : bytesOf(object)
  }

  async function trees(oids: readonly string[]): Promise<Map<string, Member[]>> {
    const objects = oids.length === 0 ? [] : await store.objects(id, [...new Set(oids)])
    const read = objects.map(async (one) => [one.oid, membersOf(await bytesOf(one), oidBytes)] as const)
    return new Map(await Promise.all(read))
  }

  const members = async (tree: string): Promise<Member[]> => (await trees([tree])).get(tree) ?? []

  async function top(name: string): Promise<Member | undefined> {
    return (await members(checkpoint.root)).find((one) => one.name === name)
  }

  /** What is at a path of a tree; undefined when nothing is. */
  async function at(tree: string, path: string): Promise<Found | undefined> {
    let found: Found = { path: '', kind: 'folder', executable: false, oid: tree }
    for (const name of path.split('/').filter((part) => part !== '' && part !== '.')) {
      const member = found.kind === 'folder' ? (await members(found.oid)).find((one) => one.name === name) : undefined
      if (member === undefined) return undefined
      found = { ...member, path: found.path === '' ? name : `${found.path}/${name}` }
    }
    return found
  }

  /** The lines of `refs`: `HEAD …`, `ref id name`, `shallow id`. */
  async function refs(): Promise<string[][]> {
    const member = await top('refs')
    const text = member === undefined ? undefined : await bytes(member.oid)
    return (text?.toString('utf8') ?? '').split('\n').map((line) => line.split(' '))
  }

  return {
    id,
    checkpoint,
    bytes,
    trees,
    members,
    at,
    sizes: (oids: readonly string[]) => store.sizes(id, oids),

    /** The tree of the files: of those that git sees, or of small ones that it ignores. */
    files: async (part: 'work' | 'ignored'): Promise<string | undefined> => (await top(part))?.oid,

    /** The tree of a commit that is kept: by its id, or by the name of a branch. */
    async treeOf(ref: string): Promise<string | undefined> {
      const lines = await refs()
      const head = lines.find(([kind]) => kind === 'HEAD')
      const name = ref === 'HEAD' ? (head?.[2] ?? head?.[1] ?? ref) : ref
      const full = [name, `refs/heads/${name}`, `refs/remotes/${name}`, `refs/tags/${name}`]
      const oid = lines.find(([kind, , named]) => kind === 'ref' && full.includes(named ?? ''))?.[1] ?? name
      const commit = (await bytes(oid))?.toString('latin1')
      return commit === undefined ? undefined : /^tree ([0-9a-f]+)\n/.exec(commit)?.[1]
    },
  }
}
