import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { inflate } from 'node:zlib'
import type { ObjectKind, StoredObject } from './store.ts'

/* Git's objects as bytes: trees are read, and stored objects are written as a pack that git takes back. */

/** A member of a tree. */
export interface Member {
  name: string
  kind: 'file' | 'folder' | 'link'
  executable: boolean
  oid: string
}

const unpack = promisify(inflate)

/** Its bytes, of which there may be `size` and no more. */
export const bytesOf = ({ body, size }: Pick<StoredObject, 'body' | 'size'>): Promise<Buffer> =>
  unpack(body, { maxOutputLength: size || 1 })

/** What git would call them: so nothing is kept under a name that it does not have. */
export const oidOf = (kind: ObjectKind, bytes: Buffer, algorithm: 'sha1' | 'sha256'): string =>
  createHash(algorithm).update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex')

export const algorithmOf = (oid: string): 'sha1' | 'sha256' => (oid.length === 64 ? 'sha256' : 'sha1')

/** Names that a folder cannot have; a tree is whatever its maker wrote. */
const impossible = (name: string): boolean => name === '' || name === '.' || name === '..' || name.includes('/')

/** `oidBytes`: 20, or 32 in a repository of the newer format. Members of other kinds are left out. */
export function membersOf(tree: Buffer, oidBytes: number): Member[] {
  const members: Member[] = []
  for (let at = 0; at < tree.length;) {
    const space = tree.indexOf(0x20, at)
    const end = tree.indexOf(0, space)
    if (space < 0 || end < 0) throw new Error('a stored tree is broken')
    const mode = tree.toString('latin1', at, space)
    const kind = kinds[mode]
    const name = tree.toString('utf8', space + 1, end)
    at = end + 1 + oidBytes
    if (kind !== undefined && !impossible(name))
      members.push({ name, kind, executable: mode === '100755', oid: tree.toString('hex', end + 1, at) })
  }
  return members
}

const kinds: Record<string, Member['kind']> = {
  '40000': 'folder',
  '100644': 'file',
  '100755': 'file',
  '120000': 'link',
}

const packKinds: Record<ObjectKind, number> = { commit: 1, tree: 2, blob: 3, tag: 4 }

/** A pack of whole objects: a head, each object as it is stored, and the sum of all. */
export async function* packOf(
  count: number,
  pages: AsyncIterable<readonly StoredObject[]>,
  algorithm: 'sha1' | 'sha256',
): AsyncGenerator<Buffer> {
  const sum = createHash(algorithm)
  const head = Buffer.alloc(12)
  head.write('PACK', 'latin1')
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(count, 8)
  sum.update(head)
  yield head
  for await (const page of pages)
    for (const { kind, size, body } of page)
      for (const part of [packHead(packKinds[kind], size), body]) {
        sum.update(part)
        yield part
      }
  yield sum.digest()
}

/** Kind and size, four bits of the size in the first byte and seven in each that follows. */
function packHead(kind: number, size: number): Buffer {
  const bytes = [(kind << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push((bytes.pop() ?? 0) | 128, rest & 127)
  }
  return Buffer.from(bytes)
}
