import { posix } from 'node:path'
import type { Observation } from '@parley/contract/events'
import { FileError } from '@parley/sandbox/driver'
import { z } from 'zod'
import { create, insert, replace, undo } from './file-edit.ts'
import { recallFiles } from './file-memory.ts'
import { fileObservation, view } from './file-view.ts'
import { failed } from './observation.ts'
import type { Tool, ToolContext } from './tool.ts'

const input = z.object({
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'undo_edit']),
  path: z.string().min(1),
  view_range: z.array(z.int()).length(2).optional().describe('First and last line; -1: to the end.'),
  file_text: z.string().optional().describe('For create.'),
  old_str: z.string().optional().describe('For str_replace: exact text that is in the file once.'),
  new_str: z.string().optional().describe('For str_replace and insert.'),
  insert_line: z.int().min(0).optional().describe('New text goes after this line.'),
})
type Input = z.infer<typeof input>

export const fileEditor: Tool<typeof input> = {
  name: 'file_editor',
  aliases: ['FileEditorTool', 'str_replace_editor', 'str_replace', 'edit', 'editor', 'StrReplaceEditorTool'],
  description: 'Views files, directories and images; creates and edits text files.',
  input,
  actionKind: 'FileEditorAction',
  observationKind: fileObservation,
  readOnly: false,
  resources: ({ path }) => [`file:${posix.normalize(path)}`],
  repair,
  async run(call, context) {
    const path = posix.resolve(context.workingDir, call.path)
    try {
      return await perform(call, path, context)
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      return failed(fileObservation, `${reasons[error.code] ?? error.message}: ${path}`, {
        command: call.command,
        path,
      })
    }
  },
  recall: recallFiles,
}

const reasons: Record<string, string> = {
  EACCES: 'Permission denied',
  EISDIR: 'It is a directory',
  ENOTDIR: 'A part of the path is not a directory',
  ENOENT: 'It does not exist',
  ENOSPC: 'The disk is full',
}

function perform(call: Input, path: string, context: ToolContext): Promise<Observation> | Observation {
  const missing = (field: string) =>
    failed(fileObservation, `${call.command} needs ${field}.`, { command: call.command, path })
  switch (call.command) {
    case 'view':
      return view(path, call.view_range, context)
    case 'create':
      return call.file_text === undefined ? missing('file_text') : create(path, call.file_text, context)
    case 'str_replace':
      if (call.old_str === undefined || call.new_str === undefined) return missing('old_str and new_str')
      return replace(path, call.old_str, call.new_str, context)
    case 'insert':
      if (call.insert_line === undefined || call.new_str === undefined) return missing('insert_line and new_str')
      return insert(path, call.insert_line, call.new_str, context)
    case 'undo_edit':
      return undo(path, context)
    default:
      throw new Error(`no such command: ${call.command satisfies never}`)
  }
}

/** A missing command is told by the arguments; `file_path` and `content` are other tools' names for ours. */
function repair(given: Record<string, unknown>): Record<string, unknown> {
  const { file_path, content, old_string, new_string, ...rest } = given
  const call: Record<string, unknown> = {
    ...(file_path === undefined ? {} : { path: file_path }),
    ...(content === undefined ? {} : { file_text: content }),
    ...(old_string === undefined ? {} : { old_str: old_string }),
    ...(new_string === undefined ? {} : { new_str: new_string }),
    ...rest,
  }
  if (call['command'] !== undefined) return call
  const has = (field: string) => call[field] !== undefined
  const command = has('old_str') ? 'str_replace' : has('insert_line') ? 'insert' : has('file_text') ? 'create' : 'view'
  return { ...call, command }
}
