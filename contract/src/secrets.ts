import { z } from 'zod'
import { described, doneInWords } from './described.ts'
import { endpoint } from './endpoint.ts'
import { page, pageQuery } from './page.ts'
import { SecretHosts, SecretName, SecretSummary } from './secret-names.ts'

/* Custom secrets. A secret's id is its name; names are compared case by case. A value is never answered. */

export const SecretPage = page(SecretSummary).meta({ id: 'SecretPage' })
export type SecretPage = z.infer<typeof SecretPage>

const value = z.string().min(1).max(65_536).meta({ description: 'Never answered.' })
const description = z.string().max(1000).nullable().meta({ description: 'What it is for, told to the agent.' })

export const NewSecret = z
  .object(
    described(
      { name: SecretName, value, description: description.default(null), hosts: SecretHosts.default(null) },
      { name: 'The variable that commands see it as. Names are told apart by case.' },
    ),
  )
  .meta({ id: 'NewSecret' })
export type NewSecret = z.infer<typeof NewSecret>

/** The value stays as it is unless a new one is sent, and so do the hosts. */
export const SecretUpdate = z
  .object(
    described(
      {
        name: SecretName,
        description: description.default(null),
        value: value.optional(),
        hosts: SecretHosts.optional(),
      },
      { name: 'The same, or a new name.', value: 'A new value; absent: as it is.', hosts: 'Absent: as they are.' },
    ),
  )
  .meta({ id: 'SecretUpdate' })
export type SecretUpdate = z.infer<typeof SecretUpdate>

const SecretId = z.object({ id: z.string().min(1).max(255).meta({ description: 'The name of the secret.' }) })
const Message = z.object({ message: doneInWords })
const exampleSecret = { name: 'NPM_TOKEN', description: 'Registry of the team', hosts: ['npm.example.org'] }

export const listSecrets = endpoint({
  method: 'GET',
  path: '/api/v1/secrets',
  summary: 'List secrets',
  description: 'Names and descriptions of all secrets, sorted by name.',
  access: 'secrets:list',
  returns: z.object({
    custom_secrets: z.array(SecretSummary).meta({ description: 'All of them, by name.' }),
  }),
  etag: true,
  example: { returns: { custom_secrets: [exampleSecret] } },
})

export const searchSecrets = endpoint({
  method: 'GET',
  path: '/api/v1/secrets/search',
  summary: 'Search secrets',
  description: 'Names and descriptions, page by page, sorted by name.',
  access: 'secrets:list',
  query: z.object({
    name__contains: z.string().max(255).optional().meta({ description: 'Part of the name.' }),
    ...pageQuery(100),
  }),
  returns: SecretPage,
  fails: ['malformed_page_id'],
  example: { returns: { items: [exampleSecret], next_page_id: null } },
})

export const createSecret = endpoint({
  method: 'POST',
  path: '/api/v1/secrets',
  summary: 'Create a secret',
  description: 'The agent\u2019s commands see it as an environment variable; its value is masked in what they print.',
  access: 'secrets:write',
  body: NewSecret,
  returns: Message,
  status: 201,
  fails: ['secret_name_taken'],
  example: {
    body: {
      name: 'NPM_TOKEN',
      value: 'not-a-real-token',
      description: 'Registry of the team',
      hosts: ['npm.example.org'],
    },
    returns: { message: 'Secret created successfully' },
  },
})

export const updateSecret = endpoint({
  method: 'PUT',
  path: '/api/v1/secrets/{id}',
  summary: 'Change a secret',
  description: 'Renames and describes it; a new value replaces the stored one.',
  access: 'secrets:write',
  params: SecretId,
  body: SecretUpdate,
  returns: Message,
  fails: ['not_found', 'secret_name_taken'],
  example: { body: { name: 'NPM_READ_TOKEN' }, returns: { message: 'Secret updated successfully' } },
})

export const deleteSecret = endpoint({
  method: 'DELETE',
  path: '/api/v1/secrets/{id}',
  summary: 'Delete a secret',
  description: 'Commands that start later no longer see it.',
  access: 'secrets:write',
  params: SecretId,
  returns: Message,
  fails: ['not_found'],
  example: { returns: { message: 'Secret deleted successfully' } },
})
