import { z } from 'zod'
import { described, done } from './described.ts'
import { endpoint } from './endpoint.ts'
import { exampleIds, exampleTime } from './examples.ts'
import { Id, IdInput, idList } from './id.ts'
import { page, pageQuery } from './page.ts'
import { Timestamp } from './time.ts'

export const sandboxStatuses = ['STARTING', 'RUNNING', 'PAUSED', 'ERROR', 'MISSING'] as const
export const SandboxStatus = z.enum(sandboxStatuses).meta({
  id: 'SandboxStatus',
  description: '`PAUSED` keeps its files; `ERROR` can only be removed; `MISSING` is gone.',
})
export type SandboxStatus = z.infer<typeof SandboxStatus>

/** Where a status can go. `ERROR` can only be removed; `MISSING` is the end. */
export const sandboxTransitions: Readonly<Record<SandboxStatus, readonly SandboxStatus[]>> = {
  STARTING: ['RUNNING', 'ERROR', 'MISSING'],
  RUNNING: ['PAUSED', 'ERROR', 'MISSING'],
  PAUSED: ['STARTING', 'ERROR', 'MISSING'],
  ERROR: ['MISSING'],
  MISSING: [],
}

/** True when a sandbox in `from` may become `to`; staying as it is is always allowed. */
export const sandboxMayBecome = (from: SandboxStatus, to: SandboxStatus): boolean =>
  from === to || sandboxTransitions[from].includes(to)

/** What can be asked of a sandbox. `message`: a message to a conversation in it; `use`: reading or writing its files. */
export type SandboxVerb = 'pause' | 'resume' | 'delete' | 'message' | 'use'

const allowedIn: Readonly<Record<SandboxVerb, readonly SandboxStatus[]>> = {
  pause: ['RUNNING', 'PAUSED'],
  resume: ['PAUSED'],
  delete: ['STARTING', 'RUNNING', 'PAUSED', 'ERROR', 'MISSING'],
  message: ['STARTING', 'RUNNING', 'PAUSED'],
  use: ['RUNNING'],
}

/** True when a sandbox in `status` takes `verb`. Pausing a paused sandbox changes nothing and is allowed. */
export const sandboxAllows = (status: SandboxStatus, verb: SandboxVerb): boolean => allowedIn[verb].includes(status)

/** How a refused verb is answered. */
export const sandboxRefusal = (status: SandboxStatus, verb: SandboxVerb): 'gone' | 'state_conflict' | undefined => {
  if (sandboxAllows(status, verb)) return undefined
  return status === 'MISSING' && (verb === 'message' || verb === 'use') ? 'gone' : 'state_conflict'
}

/**
 * Where what listens on a port of a sandbox can be opened in a browser. Whoever has the address may use it while the sandbox
 * runs, for hours and not for ever: ask for the sandbox again for one that is good. `name` is also the variable that holds the
 * port inside.
 */
export const ExposedUrl = z
  .object(
    described(
      { name: z.string(), url: z.url(), port: z.int() },
      {
        name: 'Also the variable that holds the port inside.',
        url: 'Opens in a browser, for hours; ask again for one that is good.',
        port: 'Inside the sandbox.',
      },
    ),
  )
  .meta({ id: 'ExposedUrl' })
export type ExposedUrl = z.infer<typeof ExposedUrl>

/** A sandbox. `session_api_key` is shown only in the answer that made the key; `exposed_urls` only while RUNNING. */
export const Sandbox = z
  .object(
    described(
      {
        id: Id,
        created_by_user_id: z.string().nullable(),
        sandbox_spec_id: z.string(),
        status: SandboxStatus,
        status_detail: z.string().nullable(),
        session_api_key: z.string().nullable(),
        exposed_urls: z.array(ExposedUrl).nullable(),
        created_at: Timestamp,
        last_used_at: Timestamp,
      },
      {
        created_by_user_id: 'Whose it is.',
        sandbox_spec_id: 'What it was made from.',
        status_detail: 'Why it is where it is, in words.',
        session_api_key: 'Shown once, in the answer that made it: for programs inside, void at pause and delete.',
        exposed_urls: 'Where what it serves opens in a browser; null unless RUNNING.',
        last_used_at: 'When something was last done in it.',
      },
    ),
  )
  .meta({ id: 'Sandbox' })
export type Sandbox = z.infer<typeof Sandbox>

export const SandboxPage = page(Sandbox).meta({ id: 'SandboxPage' })
export type SandboxPage = z.infer<typeof SandboxPage>

const OneSandbox = z.object({ id: IdInput })
const exampleSandbox = {
  id: exampleIds.sandbox,
  created_by_user_id: exampleIds.user,
  sandbox_spec_id: 'parley/workspace',
  status: 'RUNNING',
  status_detail: null,
  session_api_key: null,
  exposed_urls: [
    {
      name: 'WORKER_1',
      url: 'https://0199f3c27d4e7cc09f2a5b1c3d4e5f601f4b01c9c0e8a7d3f21b9c6e40.apps.parley.example/',
      port: 8011,
    },
  ],
  created_at: exampleTime,
  last_used_at: exampleTime,
}

export const searchSandboxes = endpoint({
  method: 'GET',
  path: '/api/v1/sandboxes/search',
  summary: 'Search sandboxes',
  description: 'The caller\u2019s sandboxes, newest first.',
  access: 'conversations:read',
  query: z.object({
    status__eq: SandboxStatus.optional().meta({ description: 'Only those in this state.' }),
    ...pageQuery(100),
  }),
  returns: SandboxPage,
  fails: ['malformed_page_id'],
  example: { returns: { items: [exampleSandbox], next_page_id: null } },
})

export const getSandboxes = endpoint({
  method: 'GET',
  path: '/api/v1/sandboxes',
  summary: 'Get sandboxes by id',
  description: 'In the order of the ids; null for a sandbox that does not exist.',
  access: 'conversations:read',
  query: z.object({ ids: idList(100) }),
  returns: z.array(Sandbox.nullable()),
  fails: ['malformed_id', 'too_many_ids'],
  example: { returns: [exampleSandbox, null] },
})

export const getSandbox = endpoint({
  method: 'GET',
  path: '/api/v1/sandboxes/{id}',
  summary: 'Get a sandbox',
  description: 'One sandbox of the caller.',
  access: 'conversations:read',
  params: OneSandbox,
  returns: Sandbox,
  etag: true,
  fails: ['not_found', 'malformed_id'],
  example: { returns: exampleSandbox },
})

export const createSandbox = endpoint({
  method: 'POST',
  path: '/api/v1/sandboxes',
  summary: 'Create a sandbox',
  description: 'Starts a sandbox before a conversation needs it. At the limit an older sandbox is paused.',
  access: 'sandboxes:control',
  query: z.object({
    sandbox_spec_id: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .meta({ description: 'What it is made from; absent: the usual spec.' }),
  }),
  returns: Sandbox,
  fails: ['not_found', 'capacity', 'unavailable'],
  example: { returns: { ...exampleSandbox, status: 'STARTING', exposed_urls: null } },
})

/** The answer to a change of a sandbox: its status after the call, and a sentence. */
export const SandboxChange = z
  .object(
    described(
      { success: done, status: SandboxStatus, message: z.string() },
      { message: 'What happens next, in words.' },
    ),
  )
  .meta({ id: 'SandboxChange' })
export type SandboxChange = z.infer<typeof SandboxChange>

export const pauseSandbox = endpoint({
  method: 'POST',
  path: '/api/v1/sandboxes/{id}/pause',
  summary: 'Pause a sandbox',
  description: 'Stops everything that runs in it and keeps its files. A paused sandbox stays paused.',
  access: 'sandboxes:control',
  params: OneSandbox,
  returns: SandboxChange,
  fails: ['not_found', 'malformed_id', 'state_conflict', 'unavailable'],
  example: { returns: { success: true, status: 'PAUSED', message: 'Sandbox paused' } },
})

export const resumeSandbox = endpoint({
  method: 'POST',
  path: '/api/v1/sandboxes/{id}/resume',
  summary: 'Resume a paused sandbox',
  description: 'Restarts its environment with its files. Only a PAUSED sandbox can be resumed.',
  access: 'sandboxes:control',
  params: OneSandbox,
  returns: SandboxChange,
  fails: ['not_found', 'malformed_id', 'state_conflict', 'capacity', 'unavailable'],
  example: { returns: { success: true, status: 'STARTING', message: 'Sandbox resume requested' } },
})

export const deleteSandbox = endpoint({
  method: 'DELETE',
  path: '/api/v1/sandboxes/{id}',
  summary: 'Delete a sandbox',
  description: 'Removes it and its files for good. Its conversations stay readable and show it as MISSING.',
  access: 'sandboxes:control',
  params: OneSandbox,
  query: z.object({
    sandbox_id: IdInput.optional().meta({ description: 'The id in the path once more, or left out.' }),
  }),
  returns: z.object({ success: done }),
  fails: ['not_found', 'malformed_id'],
  example: { returns: { success: true } },
})
