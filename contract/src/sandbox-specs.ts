import { z } from 'zod'
import { described } from './described.ts'
import { endpoint } from './endpoint.ts'
import { exampleTime } from './examples.ts'
import { IdInput } from './id.ts'
import { page, pageQuery } from './page.ts'
import { SecretSummary } from './secret-names.ts'
import { Timestamp } from './time.ts'

/** What a sandbox is made from. The first one is the default. */
export const SandboxSpec = z
  .object(
    described(
      {
        id: z.string(),
        command: z.array(z.string()).nullable(),
        created_at: Timestamp,
        initial_env: z.record(z.string(), z.string()),
        working_dir: z.string(),
      },
      {
        id: 'The name to ask for it by.',
        command: 'What it is started with; null: what its maker says.',
        initial_env: 'Variables that every program in it has; none of them is secret.',
        working_dir: 'Where conversations have their folders.',
      },
    ),
  )
  .meta({ id: 'SandboxSpec' })
export type SandboxSpec = z.infer<typeof SandboxSpec>

export const SandboxSpecPage = page(SandboxSpec).meta({ id: 'SandboxSpecPage' })
export type SandboxSpecPage = z.infer<typeof SandboxSpecPage>

const exampleSpec = {
  id: 'parley/workspace',
  command: null,
  created_at: exampleTime,
  initial_env: {},
  working_dir: '/workspace/project',
}

export const searchSandboxSpecs = endpoint({
  method: 'GET',
  path: '/api/v1/sandbox-specs/search',
  summary: 'Search sandbox specs',
  description: 'What sandboxes can be made from on this server.',
  access: 'conversations:read',
  query: z.object(pageQuery(100)),
  returns: SandboxSpecPage,
  fails: ['malformed_page_id'],
  example: { returns: { items: [exampleSpec], next_page_id: null } },
})

export const getSandboxSpecs = endpoint({
  method: 'GET',
  path: '/api/v1/sandbox-specs',
  summary: 'Get sandbox specs by id',
  description: 'In the order of the ids; null for a spec that does not exist.',
  access: 'conversations:read',
  query: z.object({
    ids: z
      .array(z.string().min(1).max(255))
      .min(1)
      .max(100)
      .meta({ description: 'At most 100; `id` is another name for it.' }),
  }),
  returns: z.array(SandboxSpec.nullable()),
  fails: ['too_many_ids'],
  example: { returns: [exampleSpec] },
})

export const listSandboxSecrets = endpoint({
  method: 'GET',
  path: '/api/v1/sandboxes/{id}/settings/secrets',
  summary: 'List the secrets a sandbox may read',
  description: 'For the session key of that very sandbox, while it is RUNNING: names, no values.',
  access: 'sandbox',
  params: z.object({ id: IdInput }),
  returns: z.object({ secrets: z.array(SecretSummary).meta({ description: 'Names, no values.' }) }),
  fails: ['not_found', 'malformed_id', 'insufficient_scope', 'state_conflict'],
  example: { returns: { secrets: [{ name: 'NPM_TOKEN', description: 'Registry of the team', hosts: null }] } },
})

export const readSandboxSecret = endpoint({
  method: 'GET',
  path: '/api/v1/sandboxes/{id}/settings/secrets/{name}',
  summary: 'Read a secret from inside a sandbox',
  description: 'The value as plain text, for the session key of that very sandbox, while it is RUNNING.',
  access: 'sandbox',
  params: z.object({ id: IdInput, name: z.string().min(1).max(255).meta({ description: 'The name of the secret.' }) }),
  answer: 'bytes',
  fails: ['not_found', 'malformed_id', 'insufficient_scope', 'state_conflict'],
  example: {},
})
