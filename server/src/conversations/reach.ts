import type { GitChange, GitDiff, WorkspaceFile } from '@parley/contract/workspace'
import type { Bytes } from '@parley/wire/serve'
import type { Sandboxes } from '../sandboxes/service.ts'
import { type Changes, changesIn } from './changes.ts'
import type { Snapshot } from './checkpoints/read.ts'
import type { Checkpoints } from './checkpoints/save.ts'
import { savedChanges, savedDiff } from './checkpoints/saved-changes.ts'
import { archiveSaved, downloadSaved, listSaved, readSaved } from './checkpoints/saved-files.ts'
import { workspaceFiles } from './files.ts'
import type { Whole } from './store.ts'

/*
 * Reading a workspace: from the sandbox while that can be used, else from the last checkpoint. Without one, what stands in
 * the way of the sandbox is the answer.
 */

interface Parts {
  sandboxes: Sandboxes
  checkpoints: Checkpoints
}

export type Reach = ReturnType<typeof reachOf>

export function reachOf({ sandboxes, checkpoints }: Parts) {
  const changes = changesIn({ sandboxes })
  const files = workspaceFiles({ sandboxes })

  async function either<T>(row: Whole, live: () => Promise<T>, from: (saved: Snapshot) => T | Promise<T>): Promise<T> {
    try {
      return await live()
    } catch (error) {
      if (await sandboxes.usable(row.sandbox_id)) throw error
      const saved = await checkpoints.open(row.id)
      if (saved === undefined) throw error
      return from(saved)
    }
  }

  return {
    changes: (row: Whole, asked: Parameters<Changes['list']>[1], signal: AbortSignal): Promise<GitChange[]> =>
      either(
        row,
        () => changes.list(row, asked, signal),
        (saved) => savedChanges(saved, row, asked),
      ),

    diff: (row: Whole, asked: Parameters<Changes['diff']>[1], signal: AbortSignal): Promise<GitDiff> =>
      either(
        row,
        () => changes.diff(row, asked, signal),
        (saved) => savedDiff(saved, row, asked),
      ),

    list: (
      row: Whole,
      asked: { path: string; limit: number },
      signal: AbortSignal,
    ): Promise<{ files: WorkspaceFile[]; truncated: boolean }> =>
      either(
        row,
        () => files.list(row, asked, signal),
        (saved) => listSaved(saved, row, asked),
      ),

    read: (row: Whole, path: string | undefined, signal: AbortSignal): Promise<string> =>
      either(
        row,
        () => files.read(row, path, signal),
        (saved) => readSaved(saved, row, path),
      ),

    download: (row: Whole, path: string, signal: AbortSignal): Promise<Bytes> =>
      either(
        row,
        () => files.download(row, path, signal),
        (saved) => downloadSaved(saved, row, path),
      ),

    upload: files.upload,

    /** All files as they are now, or as they were when they could last be reached. */
    async archive(row: Whole, signal: AbortSignal): Promise<Bytes> {
      await checkpoints.saveWell(row.id)
      const saved = await checkpoints.open(row.id)
      if (saved !== undefined) return archiveSaved(saved, row)
      // Says why there is nothing.
      await files.list(row, { path: '.', limit: 1 }, signal)
      throw new Error('a workspace that can be read was not saved')
    },
  }
}
