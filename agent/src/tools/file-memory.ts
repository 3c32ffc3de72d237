import { createHash } from 'node:crypto'
import type { Observation } from '@parley/contract/events'

/*
 * What the file editor remembers: the state in which each file was last seen, and the edits that can be undone. Both are
 * in the observations (`hash_after`, `diff`), so the log gives them back after a crash.
 */

export interface Edit {
  /** Unified diff; null: the file was made by it. */
  diff: string | null
  after: string
}

export interface FileMemory {
  /** Hash by path. */
  seen: Map<string, string>
  edits: Map<string, Edit[]>
}

const undoable = 10
const filesRemembered = 2_000

export function fileMemory(memory: Map<string, unknown>): FileMemory {
  const known = memory.get('files') as FileMemory | undefined
  if (known !== undefined) return known
  const fresh: FileMemory = { seen: new Map(), edits: new Map() }
  memory.set('files', fresh)
  return fresh
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

export function remember({ seen, edits }: FileMemory, path: string, hash: string, edit?: Edit): void {
  put(seen, path, hash)
  if (edit !== undefined) put(edits, path, [...(edits.get(path) ?? []).slice(1 - undoable), edit])
}

/** The newest go in; the one that was not touched for longest goes out. */
function put<T>(map: Map<string, T>, path: string, value: T): void {
  map.delete(path)
  map.set(path, value)
  const oldest = map.keys().next()
  if (map.size > filesRemembered && oldest.done !== true) map.delete(oldest.value)
}

export function recallFiles(observation: Observation, memory: Map<string, unknown>): void {
  const { command, path, hash_after: hash, diff } = observation
  if (observation.is_error || typeof path !== 'string' || typeof hash !== 'string') return
  const files = fileMemory(memory)
  if (command === 'undo_edit') files.edits.get(path)?.pop()
  const made = command === 'create' ? null : diff
  const isEdit =
    command === 'create' || ((command === 'str_replace' || command === 'insert') && typeof diff === 'string')
  remember(files, path, hash, isEdit ? { diff: typeof made === 'string' ? made : null, after: hash } : undefined)
}
