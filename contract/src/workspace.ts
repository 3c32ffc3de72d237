import { z } from 'zod'
import { described } from './described.ts'
import { endpoint } from './endpoint.ts'
import { exampleTime } from './examples.ts'
import { GitRef } from './git-names.ts'
import { HookEvent, HookMatcher } from './hook-config.ts'
import { IdInput } from './id.ts'
import { Timestamp } from './time.ts'

/* What a conversation has in its sandbox: files, changes, skills and hooks. All paths stay inside the workspace. */

const OneConversation = z.object({ id: IdInput })

/** What is wrong with `path` as a path of the workspace; undefined when nothing is. Links are checked at use. */
export function workspacePathProblem(path: string): string | undefined {
  if (path.includes('\u0000')) return 'must not have a NUL character'
  if (path.split('/').includes('..')) return 'must not have a part `..`'
  return undefined
}

/** Relative to the conversation's working directory, or absolute inside it. */
export const WorkspacePath = z
  .string()
  .max(4096)
  .superRefine((path, ctx) => {
    const message = workspacePathProblem(path)
    if (message !== undefined) ctx.addIssue({ code: 'custom', message })
  })

const reach = ['not_found', 'malformed_id', 'state_conflict', 'gone', 'sandbox_error', 'upstream_timeout'] as const

const lines = z.int().min(0).nullable()

/** `additions` and `deletions` count lines; null where that makes no sense (binary) or there are too many files to look into. */
export const GitChange = z
  .object(
    described(
      {
        status: z.enum(['MOVED', 'ADDED', 'DELETED', 'UPDATED']),
        path: z.string(),
        additions: lines,
        deletions: lines,
      },
      {
        status: 'What became of the file.',
        path: 'From the working directory.',
        additions: 'Lines that came; null: not counted.',
        deletions: 'Lines that went; null: not counted.',
      },
    ),
  )
  .meta({ id: 'GitChange' })
export type GitChange = z.infer<typeof GitChange>

export const listGitChanges = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/{id}/git/changes',
  summary: 'List changed files',
  description: 'Files of the repository that differ from `ref`, or from where the work began.',
  access: 'conversations:read',
  params: OneConversation,
  query: z.object({
    path: WorkspacePath.default('.').meta({ description: 'A folder, from the working directory.' }),
    ref: GitRef.optional(),
  }),
  returns: z.array(GitChange),
  fails: reach,
  example: { returns: [{ status: 'UPDATED', path: 'src/parser.ts', additions: 12, deletions: 3 }] },
})

export const GitDiff = z
  .object(
    described(
      { modified: z.string().nullable(), original: z.string().nullable() },
      {
        modified: 'The file as it is; null: it is gone.',
        original: 'The file as it was; null: it is new.',
      },
    ),
  )
  .meta({ id: 'GitDiff' })
export type GitDiff = z.infer<typeof GitDiff>

export const getGitDiff = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/{id}/git/diff',
  summary: 'Compare a file',
  description: 'The text before and after; null on the side where the file does not exist.',
  access: 'conversations:read',
  params: OneConversation,
  query: z.object({
    path: WorkspacePath.min(1).meta({ description: 'A file, from the working directory.' }),
    ref: GitRef.optional(),
  }),
  returns: GitDiff,
  fails: [...reach, 'payload_too_large'],
  example: { returns: { modified: 'export const answer = 42\n', original: null } },
})

export const WorkspaceFile = z
  .object(
    described(
      {
        path: z.string(),
        kind: z.enum(['file', 'folder', 'link']),
        size: z.int().min(0),
        modified_at: Timestamp,
      },
      { path: 'From the working directory.', kind: 'A link is not followed.', size: 'Bytes.' },
    ),
  )
  .meta({ id: 'WorkspaceFile' })
export type WorkspaceFile = z.infer<typeof WorkspaceFile>

const exampleFile = { path: 'src/parser.ts', kind: 'file', size: 1204, modified_at: exampleTime }

export const listFiles = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/{id}/files',
  summary: 'List files of the workspace',
  description: 'The members of one folder, folders first, then by name; at most `limit`.',
  access: 'conversations:read',
  params: OneConversation,
  query: z.object({
    path: WorkspacePath.default('.').meta({ description: 'A folder, from the working directory.' }),
    limit: z.coerce.number().int().min(1).max(1000).default(1000).meta({ description: 'How many members at most.' }),
  }),
  returns: z.object(
    described(
      { files: z.array(WorkspaceFile), truncated: z.boolean() },
      { files: 'The members of the folder.', truncated: 'Whether there are more.' },
    ),
  ),
  fails: reach,
  example: { returns: { files: [exampleFile], truncated: false } },
})

export const readFile = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/{id}/file',
  summary: 'Read a text file',
  description: 'The text as a JSON string. Without `file_path`: the plan that a planning agent wrote.',
  access: 'conversations:read',
  params: OneConversation,
  query: z.object({
    file_path: WorkspacePath.min(1).optional().meta({ description: 'A file, from the working directory.' }),
  }),
  returns: z.string(),
  fails: [...reach, 'payload_too_large', 'unsupported_media_type'],
  example: { returns: '# Plan\n' },
})

export const downloadFile = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/{id}/files/download',
  summary: 'Download a file',
  description: 'The bytes of one file of the workspace, always as an attachment.',
  access: 'conversations:read',
  params: OneConversation,
  query: z.object({ path: WorkspacePath.min(1).meta({ description: 'A file, from the working directory.' }) }),
  answer: 'bytes',
  fails: reach,
})

export const downloadWorkspace = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/{id}/files/archive',
  summary: 'Download the workspace',
  description:
    'A zip of the files of the working directory as they are now or, when the sandbox cannot be reached, as they were last saved. Folders that git ignores and very large files are left out.',
  access: 'conversations:read',
  params: OneConversation,
  answer: 'bytes',
  fails: reach,
})

export const uploadFiles = endpoint({
  method: 'POST',
  path: '/api/v1/app-conversations/{id}/files/upload',
  summary: 'Upload files',
  description: 'Multipart parts named `file`, written into the folder `path`; a file that exists is replaced.',
  access: 'conversations:write',
  params: OneConversation,
  query: z.object({ path: WorkspacePath.default('.').meta({ description: 'A folder, from the working directory.' }) }),
  accepts: 'multipart',
  bodyLimit: 100 * 1024 * 1024,
  returns: z.object({ files: z.array(WorkspaceFile).meta({ description: 'What was written.' }) }),
  status: 201,
  fails: [...reach, 'storage_full'],
  example: { returns: { files: [exampleFile] } },
})

export const downloadTrajectory = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/{id}/download',
  summary: 'Download the whole conversation',
  description: 'A zip: `meta.json` and one file for each event in order. Of any size; written while it is read.',
  access: 'events:read',
  params: OneConversation,
  answer: 'bytes',
  fails: ['not_found', 'malformed_id'],
})

export const LoadedSkill = z
  .object(
    described(
      {
        name: z.string(),
        type: z.enum(['repo', 'knowledge', 'agentskills']),
        content: z.string(),
        triggers: z.array(z.string()),
      },
      {
        name: 'Of two with one name the nearer to the repository holds.',
        type: '`repo`: always told. `knowledge`: told when a trigger comes up. `agentskills`: read when it is wanted.',
        content: 'What the agent is told, as Markdown.',
        triggers: 'Words or patterns that bring it up.',
      },
    ),
  )
  .meta({ id: 'LoadedSkill' })
export type LoadedSkill = z.infer<typeof LoadedSkill>

export const listConversationSkills = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/{id}/skills',
  summary: 'List the skills of a conversation',
  description: 'The skills that were loaded for it; of two with one name the nearer to the repository wins.',
  access: 'conversations:read',
  params: OneConversation,
  returns: z.object({ skills: z.array(LoadedSkill).meta({ description: 'All that were loaded.' }) }),
  fails: ['not_found', 'malformed_id'],
  example: {
    returns: { skills: [{ name: 'release', type: 'knowledge', content: 'How we release.', triggers: ['release'] }] },
  },
})

/** The hooks of one moment. */
export const ConfiguredHooks = z
  .object(
    described(
      { event_type: HookEvent, matchers: z.array(HookMatcher) },
      { event_type: 'The moment.', matchers: 'What runs then, and for which tools.' },
    ),
  )
  .meta({ id: 'ConfiguredHooks' })
export type ConfiguredHooks = z.infer<typeof ConfiguredHooks>

export const listConversationHooks = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/{id}/hooks',
  summary: 'List the hooks of a conversation',
  description: 'The hooks that run in it, by moment; moments without a hook are left out.',
  access: 'conversations:read',
  params: OneConversation,
  returns: z.object({ hooks: z.array(ConfiguredHooks).meta({ description: 'By moment.' }) }),
  fails: ['not_found', 'malformed_id'],
  example: {
    returns: {
      hooks: [
        {
          event_type: 'stop',
          matchers: [{ matcher: '*', hooks: [{ type: 'command', command: 'npm test', timeout: 60, async: false }] }],
        },
      ],
    },
  },
})
