import { z } from 'zod'
import { described } from './described.ts'
import { HostPattern } from './egress.ts'

/** Variables that the sandbox itself needs; a secret of this name would change how it works. */
const reserved = new Set([
  'HOME',
  'PATH',
  'SHELL',
  'USER',
  'PWD',
  'IFS',
  'BASH_ENV',
  'ENV',
  'LD_PRELOAD',
  'LD_LIBRARY_PATH',
  'LD_AUDIT',
  'NODE_OPTIONS',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'SSL_CERT_FILE',
  'NODE_EXTRA_CA_CERTS',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'WORKER_1',
  'WORKER_2',
])
const reservedPrefixes = ['LLM_', 'PARLEY_', 'GIT_CONFIG_']

/** What is wrong with `name` as the name of a secret; undefined when nothing is. Reserved names match in any case. */
export function secretNameProblem(name: string): string | undefined {
  if (name.length > 255) return 'must be at most 255 characters'
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name.endsWith('\n')) {
    return 'must be letters, digits and underscores and not start with a digit'
  }
  const upper = name.toUpperCase()
  if (reserved.has(upper) || reservedPrefixes.some((prefix) => upper.startsWith(prefix))) {
    return 'is reserved for the sandbox itself'
  }
  return undefined
}

/** A name under which a secret reaches commands as an environment variable. */
export const SecretName = z.string().superRefine((name, ctx) => {
  const message = secretNameProblem(name)
  if (message !== undefined) ctx.addIssue({ code: 'custom', message })
})

/**
 * Null: commands see the value. A list: commands see a placeholder, and the value is put in its place on the way to these
 * hosts alone, in headers and addresses of HTTP requests.
 */
export const SecretHosts = z.array(HostPattern).min(1).max(20).nullable().meta({
  description:
    'Null: commands see the value. A list: they see a placeholder, and the value is put in on the way to these hosts alone.',
})

/** A secret as the world sees it: the name, never the value. */
export const SecretSummary = z
  .object(
    described(
      { name: z.string(), description: z.string().nullable(), hosts: SecretHosts },
      { name: 'Also the name of the variable.', description: 'What it is for.' },
    ),
  )
  .meta({ id: 'SecretSummary' })
export type SecretSummary = z.infer<typeof SecretSummary>
