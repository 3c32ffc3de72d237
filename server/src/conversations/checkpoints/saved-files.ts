import { posix } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { planFile } from '@parley/agent/tools/planning-file-editor'
import type { GitProvider } from '@parley/contract/git-provider'
import { Problem } from '@parley/contract/problems'
import type { WorkspaceFile } from '@parley/contract/workspace'
import type { Bytes } from '@parley/wire/serve'
import { ZipFile } from 'yazl'
import { largestText, textOf } from '../files.ts'
import type { Found, Snapshot } from './read.ts'

/* The files of a workspace that cannot be reached, as the last checkpoint has them. Links are shown and not followed. */

interface Place {
  id: string
  working_dir: string
  git_provider: GitProvider | null
}

/** Trees can be written that are small and have no end of members. */
const mostFiles = 200_000
const parts = ['work', 'ignored'] as const

export async function listSaved(saved: Snapshot, place: Place, { path, limit }: { path: string; limit: number }) {
  const found = await lookup(saved, inside(place, path))
  const folders = found.filter(({ kind }) => kind === 'folder')
  if (folders.length === 0) throw new Problem('not_found', 'There is no such folder.')
  const members = new Map<string, Found>()
  for (const folder of folders)
    for (const member of await saved.members(folder.oid))
      members.set(member.name, { ...member, path: posix.join(folder.path, member.name) })
  const all = [...members.values()].sort(
    (a, b) => Number(b.kind === 'folder') - Number(a.kind === 'folder') || (a.path < b.path ? -1 : 1),
  )
  const shown = all.slice(0, limit)
  const sizes = await saved.sizes(shown.flatMap(({ kind, oid }) => (kind === 'folder' ? [] : [oid])))
  const files = shown.map(({ path: name, kind, oid }): WorkspaceFile => ({
    path: name,
    kind,
    size: sizes.get(oid) ?? 0,
    modified_at: saved.checkpoint.at,
  }))
  return { files, truncated: all.length > limit }
}

export async function readSaved(saved: Snapshot, place: Place, path: string | undefined): Promise<string> {
  const { oid, size } = await file(saved, place, path ?? planFile(place.git_provider))
  if (size > largestText) throw new Problem('payload_too_large', 'The file is too large to read as text.')
  return textOf((await saved.bytes(oid)) ?? Buffer.alloc(0))
}

export async function downloadSaved(saved: Snapshot, place: Place, path: string): Promise<Bytes> {
  const { oid, name } = await file(saved, place, path)
  const body = (await saved.bytes(oid)) ?? Buffer.alloc(0)
  return { type: 'application/octet-stream', length: body.length, name, body }
}

/** A zip of all files, written while it is read. */
export function archiveSaved(saved: Snapshot, { id, working_dir }: Place): Bytes {
  const zip = new ZipFile()
  const out = new PassThrough()
  // The library's own stream: its errors are ours to hand on.
  zip.outputStream.pipe(out)
  const cut = (error: unknown) => out.destroy(error instanceof Error ? error : new Error(String(error)))
  zip.on('error', cut)
  fill(zip, out, saved, posix.basename(working_dir)).catch(cut)
  return { type: 'application/zip', name: `workspace_${id}.zip`, body: out }
}

async function fill(zip: ZipFile, out: PassThrough, saved: Snapshot, root: string): Promise<void> {
  const mtime = new Date(saved.checkpoint.at)
  let count = 0
  const gone = new Promise<void>((resolve) => out.once('close', resolve))
  for (const part of parts) {
    const tree = await saved.files(part)
    if (tree === undefined) continue
    for await (const { path, kind, executable, oid } of walk(saved, tree)) {
      if (out.destroyed) return
      if ((count += 1) > mostFiles) throw new Error('the checkpoint has too many files for an archive')
      const mode = kind === 'link' ? 0o120777 : executable ? 0o100755 : 0o100644
      // One file at a time: its bytes are read when those before it have gone out.
      const turn = new Promise<void>((resolve) => {
        zip.addReadStreamLazy(`${root}/${path}`, { mtime, mode }, (give) => {
          resolve()
          saved.bytes(oid).then(
            (bytes) => give(null, Readable.from([bytes ?? Buffer.alloc(0)], { objectMode: false })),
            (error: Error) => zip.emit('error', error),
          )
        })
      })
      await Promise.race([turn, gone])
    }
  }
  zip.end()
}

/** Files and links of a tree, folder by folder. */
async function* walk(saved: Snapshot, tree: string, path = ''): AsyncGenerator<Found> {
  for (const member of await saved.members(tree)) {
    const at = posix.join(path, member.name)
    if (member.kind === 'folder') yield* walk(saved, member.oid, at)
    else yield { ...member, path: at }
  }
}

/** In each part of the checkpoint that has it. */
async function lookup(saved: Snapshot, path: string): Promise<Found[]> {
  const trees = await Promise.all(parts.map((part) => saved.files(part)))
  const found = await Promise.all(trees.map((tree) => (tree === undefined ? undefined : saved.at(tree, path))))
  return found.filter((one) => one !== undefined)
}

async function file(saved: Snapshot, place: Place, path: string) {
  const found = (await lookup(saved, inside(place, path))).find(({ kind }) => kind === 'file')
  if (found === undefined) throw new Problem('not_found', 'There is no such file.')
  const size = (await saved.sizes([found.oid])).get(found.oid) ?? 0
  return { oid: found.oid, size, name: posix.basename(found.path) }
}

/** Relative to the working directory; what lies outside of it is not there. */
function inside({ working_dir }: Place, path: string): string {
  const at = posix.resolve(working_dir, path)
  if (at !== working_dir && !at.startsWith(`${working_dir}/`)) throw new Problem('not_found', 'There is no such file.')
  return at.slice(working_dir.length)
}
