import type { Observation } from '@parley/contract/events'
import { applyPatch, createPatch, parsePatch, reversePatch } from 'diff'
import { missText, occurrences } from './file-match.ts'
import { fileMemory, hashOf, remember } from './file-memory.ts'
import { fileObservation, numberedLines } from './file-view.ts'
import { failed, observed } from './observation.ts'
import { newFile, readText, type TextFile } from './text-file.ts'
import type { ToolContext } from './tool.ts'

/** Lines shown around an edit. */
const around = 3
const diffLimit = 256 * 1024

type Verb = 'create' | 'str_replace' | 'insert' | 'undo_edit'
const refused = (command: Verb, path: string, text: string) => failed(fileObservation, text, { command, path })

export async function create(path: string, text: string, { hands, memory }: ToolContext): Promise<Observation> {
  const there = await hands.files.stat(path)
  if (there !== null) return refused('create', path, `${path} exists. Use str_replace to change it.`)
  await hands.files.write(path, newFile.bytes(text))
  const hash = hashOf(text)
  remember(fileMemory(memory), path, hash, { diff: null, after: hash })
  const facts = { command: 'create', path, prev_exist: false, old_content: null, new_content: null, diff: null }
  return observed(fileObservation, `Made ${path}.`, { ...facts, hash_before: null, hash_after: hash })
}

/** `before` must be in the file exactly once. */
export async function replace(path: string, before: string, after: string, context: ToolContext): Promise<Observation> {
  if (before === after) return refused('str_replace', path, 'old_str and new_str are the same.')
  if (before === '') return refused('str_replace', path, 'old_str is empty; use insert to add text.')
  return edit('str_replace', path, context, (text) => {
    const [old, put] = [fitted(before, text), fitted(after, text)]
    const lines = occurrences(text, old)
    if (lines.length === 0) return missText(text, old)
    if (lines.length > 1)
      return `old_str is there ${lines.length} times, at lines ${lines.slice(0, 20).join(', ')}. Give more lines around it.`
    const at = text.indexOf(old)
    return { text: text.slice(0, at) + put + text.slice(at + old.length), line: lines[0] ?? 1 }
  })
}

/** A model writes `\n`; a text that still has `\r\n` in places has it only where the file is mixed. */
const fitted = (part: string, text: string): string => (text.includes('\r\n') ? part : part.replaceAll('\r\n', '\n'))

/** After line `line` (0: at the top). Line numbers mean nothing once the file has changed, so that is refused. */
export async function insert(path: string, line: number, text: string, context: ToolContext): Promise<Observation> {
  const known = fileMemory(context.memory).seen.get(path)
  return edit('insert', path, context, (before) => {
    if (known !== undefined && known !== hashOf(before))
      return `${path} has changed since you last saw it. View it again.`
    const lines = before.split('\n')
    const count = before.endsWith('\n') || before === '' ? lines.length - 1 : lines.length
    if (line > count) return `insert_line must lie within 0 and ${count}.`
    const added = text.endsWith('\n') ? text.slice(0, -1) : text
    const all = [...lines.slice(0, line), added, ...lines.slice(line)]
    return { text: all.join('\n'), line: line + 1 }
  })
}

type Change = (text: string) => { text: string; line: number } | string

async function edit(command: Verb, path: string, context: ToolContext, change: Change): Promise<Observation> {
  const file = await existing(path, context)
  if (typeof file === 'string') return refused(command, path, file)
  const changed = change(file.text)
  if (typeof changed === 'string') return refused(command, path, changed)
  const files = fileMemory(context.memory)
  const stale = command === 'str_replace' && (files.seen.get(path) ?? hashOf(file.text)) !== hashOf(file.text)
  await context.hands.files.write(path, file.bytes(changed.text))

  const diff = diffOf(path, file.text, changed.text)
  const [before, after] = [hashOf(file.text), hashOf(changed.text)]
  remember(files, path, after, diff === null ? undefined : { diff, after })
  const note = stale ? 'The file had changed since you last saw it; this edit still fitted.\n' : ''
  const facts = { command, path, prev_exist: true, old_content: null, new_content: null, diff }
  const text = `${note}Edited ${path}:\n${surroundings(file.text, changed)}`
  return observed(fileObservation, text, { ...facts, hash_before: before, hash_after: after })
}

async function existing(path: string, { hands }: ToolContext): Promise<TextFile | string> {
  const entry = await hands.files.stat(path)
  if (entry === null) return `${path} does not exist.`
  if (entry.type === 'directory') return `${path} is a directory.`
  return readText(hands.files, path)
}

function surroundings(before: string, { text, line }: { text: string; line: number }): string {
  const lines = text.split('\n')
  const grown = lines.length - before.split('\n').length
  return numberedLines(
    lines,
    Math.max(1, line - around),
    Math.min(lines.length, line + Math.max(0, grown) + around),
    4_000,
  ).join('\n')
}

function diffOf(path: string, before: string, after: string): string | null {
  const diff = createPatch(path, before, after, '', '', { context: 3, timeout: 2_000 }) as string | undefined
  return diff === undefined || diff.length > diffLimit ? null : diff
}

/** Takes the last edit of this file back, as long as the file is as that edit left it or the diff still fits. */
export async function undo(path: string, context: ToolContext): Promise<Observation> {
  const files = fileMemory(context.memory)
  const last = files.edits.get(path)?.at(-1)
  if (last === undefined) return refused('undo_edit', path, `There is no edit of ${path} to undo.`)
  const file = await existing(path, context)
  if (typeof file === 'string') return refused('undo_edit', path, file)
  const facts = { command: 'undo_edit', path, prev_exist: true, old_content: null, new_content: null }
  if (last.diff === null) {
    if (hashOf(file.text) !== last.after) return refused('undo_edit', path, `${path} has changed since it was made.`)
    await context.hands.files.remove(path)
    files.edits.get(path)?.pop()
    return observed(fileObservation, `Removed ${path}.`, { ...facts, diff: null, hash_after: hashOf('') })
  }
  const [patch] = reversePatch(parsePatch(last.diff))
  const text = patch === undefined ? false : applyPatch(file.text, patch)
  if (text === false) return refused('undo_edit', path, `${path} has changed since; the edit cannot be undone.`)
  await context.hands.files.write(path, file.bytes(text))
  files.edits.get(path)?.pop()
  remember(files, path, hashOf(text))
  const diff = diffOf(path, file.text, text)
  return observed(fileObservation, `Took the last edit of ${path} back.`, { ...facts, diff, hash_after: hashOf(text) })
}
