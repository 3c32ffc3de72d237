import { z } from 'zod'
import { described, doneInWords } from './described.ts'
import { endpoint, scopes } from './endpoint.ts'
import { exampleIds, exampleTime } from './examples.ts'
import { Id, IdInput } from './id.ts'
import { line } from './text.ts'
import { Timestamp, TimestampInput } from './time.ts'

export const KeyScope = z.enum(scopes).meta({ id: 'KeyScope', description: 'What a key allows: a group of calls.' })

/** What a key may do when nothing is said: everything but managing keys. */
export const defaultScopes = scopes.filter((scope) => scope !== 'keys:admin')

/** An API key as it is listed: enough to recognise it, never the key. */
export const ApiKey = z
  .object(
    described(
      {
        id: Id,
        name: z.string().nullable(),
        prefix: z.string(),
        last_four: z.string(),
        scopes: z.array(KeyScope),
        created_at: Timestamp,
        last_used_at: Timestamp.nullable(),
        expires_at: Timestamp.nullable(),
      },
      {
        name: 'As it was given.',
        prefix: 'What the key begins with.',
        last_four: 'What it ends with.',
        scopes: 'What it allows.',
        last_used_at: 'Null: never.',
        expires_at: 'Null: it does not end by itself.',
      },
    ),
  )
  .meta({ id: 'ApiKey' })
export type ApiKey = z.infer<typeof ApiKey>

/** The answer that shows a key, once. */
export const NewApiKey = z
  .object({ ...ApiKey.shape, key: z.string().meta({ description: 'The key itself, shown this once.' }) })
  .meta({ id: 'NewApiKey' })
export type NewApiKey = z.infer<typeof NewApiKey>

/** A list of scopes that is sent must not be empty; duplicates count once. */
export const ApiKeyRequest = z
  .object(
    described(
      {
        name: line(1, 255).nullable().default(null),
        expires_at: TimestampInput.nullable().default(null),
        scopes: z
          .array(KeyScope)
          .min(1)
          .transform((list) => [...new Set(list)])
          .default(defaultScopes),
      },
      {
        name: 'To tell it from others.',
        expires_at: 'When it ends; null: never by itself.',
        scopes: 'What it shall allow; absent: all but managing keys.',
      },
    ),
  )
  .meta({ id: 'ApiKeyRequest' })
export type ApiKeyRequest = z.infer<typeof ApiKeyRequest>

const exampleKey = {
  id: exampleIds.task,
  name: 'Build server',
  prefix: 'prl_',
  last_four: 'x7Qa',
  scopes: ['conversations:read' as const],
  created_at: exampleTime,
  last_used_at: null,
  expires_at: null,
}
const exampleNewKey = { ...exampleKey, key: 'prl_examplekeyexamplekeyexamplekeyx7Qa' }
const OneKey = z.object({ id: IdInput })

export const listKeys = endpoint({
  method: 'GET',
  path: '/api/v1/keys',
  summary: 'List API keys',
  description: 'The caller\u2019s keys, newest first. The keys themselves are not kept and cannot be shown.',
  access: 'keys:admin',
  returns: z.array(ApiKey),
  example: { returns: [exampleKey] },
})

export const createKey = endpoint({
  method: 'POST',
  path: '/api/v1/keys',
  summary: 'Create an API key',
  description: 'This answer is the only one that shows the key. A key cannot have a scope that its maker lacks.',
  access: 'keys:admin',
  body: ApiKeyRequest,
  returns: NewApiKey,
  status: 201,
  example: { body: { name: 'Build server', scopes: ['conversations:read'] }, returns: exampleNewKey },
})

export const deleteKey = endpoint({
  method: 'DELETE',
  path: '/api/v1/keys/{id}',
  summary: 'Delete an API key',
  description: 'The key stops working at once, everywhere.',
  access: 'keys:admin',
  params: OneKey,
  returns: z.object({ message: doneInWords }),
  fails: ['not_found', 'malformed_id'],
  example: { returns: { message: 'API key deleted successfully' } },
})

export const rotateKey = endpoint({
  method: 'POST',
  path: '/api/v1/keys/{id}/rotate',
  summary: 'Replace an API key',
  description:
    'Makes a new key with the same name, scopes and length of life; the old one lives on for `grace_seconds`.',
  access: 'keys:admin',
  params: OneKey,
  body: z.object({
    grace_seconds: z.int().min(0).max(86_400).default(0).meta({ description: 'Seconds that the old key lives on.' }),
  }),
  returns: NewApiKey,
  status: 201,
  fails: ['not_found', 'malformed_id', 'insufficient_scope', 'state_conflict'],
  example: { body: { grace_seconds: 3600 }, returns: exampleNewKey },
})

/** Who is asking: with a key, its record; `auth_type` tells a key from a browser session. */
export const CurrentKey = z
  .object(
    described(
      {
        user_id: Id,
        auth_type: z.enum(['key', 'session']),
        scopes: z.array(KeyScope),
        key: ApiKey.nullable(),
      },
      {
        auth_type: 'A key, or the session of a browser.',
        scopes: 'What it allows.',
        key: 'Null for the session of a browser.',
      },
    ),
  )
  .meta({ id: 'CurrentKey' })
export type CurrentKey = z.infer<typeof CurrentKey>

export const getCurrentKey = endpoint({
  method: 'GET',
  path: '/api/v1/keys/current',
  summary: 'Get the key that is asking',
  description: 'Whose key it is and what it may do.',
  access: 'user',
  returns: CurrentKey,
  example: {
    returns: { user_id: exampleIds.user, auth_type: 'key', scopes: ['conversations:read'], key: exampleKey },
  },
})
