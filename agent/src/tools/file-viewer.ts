import { posix } from 'node:path'
import { z } from 'zod'
import { fileEditor } from './file-editor.ts'
import type { Tool } from './tool.ts'

const kind = 'FileViewerObservation'
const { path, view_range } = fileEditor.input.shape
const input = z.object({ path, view_range })

/** The file editor of an agent that may only look. */
export const fileViewer: Tool<typeof input> = {
  name: 'file_viewer',
  aliases: ['FileViewerTool', 'view_file', 'read_file'],
  description: 'Shows files, directories and images.',
  input,
  actionKind: 'FileViewerAction',
  observationKind: kind,
  readOnly: true,
  resources: (call) => [`file:${posix.normalize(call.path)}`],
  run: async (call, context) => ({ ...(await fileEditor.run({ ...call, command: 'view' }, context)), kind }),
}
