import { isIP } from 'node:net'
import { resolve } from 'node:path'
import leven from 'leven'
import { z } from 'zod'
import { isKey } from './access/key-format.ts'
import { Images, usualImage } from './config-images.ts'
import { type KubernetesConfig, kubernetesOf, kubernetesVariables } from './config-kubernetes.ts'
import { defaultLimits, type Limits, LimitsError, readLimits } from './limits.ts'
import { decodeSecretKey } from './secret-key.ts'

/** What stops a start: one line for each wrong variable, its name first. Never says the value of a secret. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

const fail = (context: z.RefinementCtx, message: string): never => {
  context.addIssue({ code: 'custom', message })
  return z.NEVER
}

const Host = z
  .string()
  .regex(/^[A-Za-z0-9.:_-]+$/, 'must be a host name or an IP address')
  .refine((host) => isIP(host) !== 0 || !host.includes(':'), 'must be without a port, which is PARLEY_PORT')

const Port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port from 0 (any that is free) to 65535')
  .transform(Number)
  .refine((port) => port <= 65535, 'must be a port from 0 (any that is free) to 65535')

const Switch = z.enum(['on', 'off'], 'must be on or off').transform((said) => said === 'on')

/** Of one thing that is never on by habit; it may also be said as a number. */
const Danger = z
  .enum(['on', 'off', '1', '0'], 'must be on or off (or 1 or 0)')
  .transform((said) => said === 'on' || said === '1')

const BaseUrl = z.string().transform((text, context) => {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    return fail(context, 'must be a URL such as https://parley.example.org')
  if (url.username !== '' || url.password !== '' || url.pathname !== '/' || url.search !== '' || url.hash !== '')
    return fail(context, 'must end with the host or the port: no path, no user, no query')
  return url.origin
})

const AppsUrl = z.string().transform((text, context) => {
  const url = /^https?:\/\/\*\.[^/*]+\/?$/.test(text) ? URL.parse(text.replace('*.', 'x.')) : null
  return url === null
    ? fail(context, 'must be a URL with a star for a name, such as https://*.apps.example.org')
    : url.origin.replace('//x.', '//*.')
})

const DatabaseUrl = z.string().refine((text) => {
  const url = URL.parse(text)
  return url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.pathname.length > 1
}, 'must be a URL such as postgres://user:password@host:5432/database')

const SecretKey = z
  .string()
  .transform(
    (text, context) => decodeSecretKey(text) ?? fail(context, 'must be 32 bytes in base64: openssl rand -base64 32'),
  )

const OwnerApiKey = z
  .string()
  .refine(
    (text) => isKey(text, 'prl'),
    'must be prl_ with 36 letters and digits, the last six the checksum: parley keys create',
  )

const Issuer = z.string().transform((text, context) => {
  const url = URL.parse(text)
  const isLocal = url !== null && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
  if (url === null || !(url.protocol === 'https:' || (isLocal && url.protocol === 'http:')))
    return fail(context, 'must be the https URL of an OpenID Connect issuer')
  return url.href
})

const Domains = z.string().transform((text, context) => {
  const domains = text.split(/[\s,]+/).filter((domain) => domain !== '')
  const wrong = domains.find((domain) => !/^([a-z0-9-]+\.)+[a-z0-9-]+$/i.test(domain))
  return wrong === undefined
    ? domains.map((domain) => domain.toLowerCase())
    : fail(context, `must be a list of domains such as example.org, but has ${JSON.stringify(wrong)}`)
})

const PrivateHosts = z.string().transform((text, context) => {
  const hosts = text.split(/[\s,]+/).filter((host) => host !== '')
  const wrong = hosts.find((host) => !/^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/.test(host))
  return wrong === undefined
    ? hosts.map((host) => host.toLowerCase())
    : fail(context, `must be a list of host:port, but has ${JSON.stringify(wrong)}`)
})

const LimitsFile = z.string().transform((path, context): { path: string; limits: Limits } => {
  try {
    return { path: resolve(path), limits: readLimits(resolve(path)) }
  } catch (error) {
    if (error instanceof LimitsError) return fail(context, error.message)
    throw error
  }
})

const sandboxKinds = ['process', 'docker', 'kubernetes'] as const

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const oneOf = <const T extends readonly string[]>(words: T) => z.enum(words, `must be one of ${words.join(', ')}`)

/** Every variable the server reads. An empty text counts as unset, as container tools pass it. */
const Environment = z.object({
  PARLEY_HOST: Host.default('127.0.0.1'),
  PARLEY_PORT: Port.default(3000),
  PARLEY_BASE_URL: BaseUrl.optional(),
  PARLEY_APPS_URL: AppsUrl.optional(),
  PARLEY_DATA_DIR: z.string().default('./data'),
  DATABASE_URL: DatabaseUrl.optional(),
  PARLEY_ROLE: oneOf(['all', 'api', 'agent']).default('all'),
  PARLEY_SANDBOX: oneOf(sandboxKinds).default('process'),
  PARLEY_SANDBOX_IMAGE: Images.default([usualImage]),
  DOCKER_HOST: z
    .string()
    .startsWith('unix:///', 'must be unix:///path: the engine has to run on this machine')
    .optional(),
  ...kubernetesVariables,
  PARLEY_SANDBOX_DANGEROUSLY_UNISOLATED: Danger.default(false),
  PARLEY_SECRET_KEY: SecretKey.optional(),
  PARLEY_OWNER_API_KEY: OwnerApiKey.optional(),
  PARLEY_OWNER_EMAIL: z.email('must be an e-mail address').optional(),
  PARLEY_OIDC_ISSUER: Issuer.optional(),
  PARLEY_OIDC_CLIENT_ID: z.string().optional(),
  PARLEY_OIDC_CLIENT_SECRET: z.string().optional(),
  PARLEY_OIDC_ALLOWED_DOMAINS: Domains.default([]),
  PARLEY_V0: Switch.default(true),
  PARLEY_PRIVATE_HOSTS: PrivateHosts.default([]),
  PARLEY_LIMITS: LimitsFile.optional(),
  PARLEY_LOG_LEVEL: oneOf(levels).default('info'),
  XDG_RUNTIME_DIR: z.string().optional(),
})
export type Variable = keyof typeof Environment.shape

/** Read by the command line client; one shell may hold them for both. */
const clientVariables = ['PARLEY_URL', 'PARLEY_API_KEY']
const secretVariables: readonly string[] = [
  'DATABASE_URL',
  'PARLEY_SECRET_KEY',
  'PARLEY_OWNER_API_KEY',
  'PARLEY_OIDC_CLIENT_SECRET',
]

export interface OidcConfig {
  readonly issuer: string
  readonly clientId: string
  /** Null: a public client, which PKCE alone protects. */
  readonly clientSecret: string | null
  /** Lower case: whoever has an address of these becomes a member at the first sign-in. */
  readonly allowedDomains: readonly string[]
}

/** What the server runs with. Everything else gets what it needs from here, as arguments. */
export interface Config {
  readonly host: string
  /** 0: the system picks a free one. */
  readonly port: number
  /** Origin under which people reach the server, without a final slash; null: that of `host` and the port listened on. */
  readonly baseUrl: string | null
  /** `https://*.apps.example.org`: names for what sandboxes serve. Null: see `port-links.ts`. */
  readonly appsUrl: string | null
  /** Absolute. Not made yet: `openPrivateFolder` does that. */
  readonly dataDir: string
  /** Null: the embedded PostgreSQL in the data folder. */
  readonly databaseUrl: string | null
  readonly role: 'all' | 'api' | 'agent'
  readonly sandbox: (typeof sandboxKinds)[number]
  /** That of a sandbox that asks for none, and those that may be asked for; the process driver has no images. */
  readonly sandboxImages: readonly string[]
  /** Where the container engine listens: `unix:///path`. */
  readonly dockerHost: string
  readonly kubernetes: KubernetesConfig
  /** Run sandboxes as plain processes although nothing separates them from this machine. */
  readonly unisolated: boolean
  /** 32 bytes; null: those of `secret.key` in the data folder. */
  readonly secretKey: Buffer | null
  readonly ownerApiKey: string | null
  readonly ownerEmail: string | null
  /** The OpenID Connect provider with which people may sign in. */
  readonly oidc: OidcConfig | null
  readonly v0: boolean
  /** `host:port`, lower case: what outbound requests may reach although its address is private. */
  readonly privateHosts: readonly string[]
  /** Absolute path of the file the limits came from; null: all are defaults. */
  readonly limitsFile: string | null
  readonly limits: Limits
  readonly logLevel: (typeof levels)[number]
  /** The system's folder for sockets of this user, where there is one. */
  readonly xdgRuntimeDir: string | null
}

/** Reads the environment. Throws `ConfigError` for a bad value or a `PARLEY_*` name that does not exist. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const said = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''))
  const unknown = Object.keys(env).filter((name) => name.startsWith('PARLEY_') && !isKnown(name))
  const read = Environment.safeParse(said)
  const wrong = read.success ? [] : read.error.issues.map((issue) => complaint(issue, said))
  if (!read.success || unknown.length > 0) throw new ConfigError([...unknown.map(suggestion), ...wrong].join('\n'))
  const values = read.data
  return {
    host: values.PARLEY_HOST,
    port: values.PARLEY_PORT,
    baseUrl: values.PARLEY_BASE_URL ?? null,
    appsUrl: values.PARLEY_APPS_URL ?? null,
    dataDir: resolve(values.PARLEY_DATA_DIR),
    databaseUrl: values.DATABASE_URL ?? null,
    role: values.PARLEY_ROLE,
    sandbox: values.PARLEY_SANDBOX,
    sandboxImages: values.PARLEY_SANDBOX_IMAGE,
    dockerHost: values.DOCKER_HOST ?? 'unix:///var/run/docker.sock',
    kubernetes: kubernetesOf(values),
    unisolated: values.PARLEY_SANDBOX_DANGEROUSLY_UNISOLATED,
    secretKey: values.PARLEY_SECRET_KEY ?? null,
    ownerApiKey: values.PARLEY_OWNER_API_KEY ?? null,
    ownerEmail: values.PARLEY_OWNER_EMAIL ?? null,
    oidc: oidcOf(values),
    v0: values.PARLEY_V0,
    privateHosts: values.PARLEY_PRIVATE_HOSTS,
    limitsFile: values.PARLEY_LIMITS?.path ?? null,
    limits: limitsOf(values),
    logLevel: values.PARLEY_LOG_LEVEL,
    xdgRuntimeDir: values.XDG_RUNTIME_DIR ?? null,
  }
}

function limitsOf({ PARLEY_LIMITS: file, PARLEY_SANDBOX_IMAGE: images }: z.output<typeof Environment>): Limits {
  if (file === undefined) return defaultLimits()
  const wrong = Object.keys(file.limits.sandboxes.warm_images).find((name) => !images.slice(1).includes(name))
  if (wrong === undefined) return file.limits
  throw new ConfigError(
    `PARLEY_LIMITS: the file ${file.path}: sandboxes.warm_images: ${wrong} is none of the images after the first of PARLEY_SANDBOX_IMAGE`,
  )
}

function oidcOf(values: z.output<typeof Environment>): OidcConfig | null {
  const { PARLEY_OIDC_ISSUER: issuer, PARLEY_OIDC_CLIENT_ID: clientId } = values
  if (issuer !== undefined && clientId !== undefined)
    return {
      issuer,
      clientId,
      clientSecret: values.PARLEY_OIDC_CLIENT_SECRET ?? null,
      allowedDomains: values.PARLEY_OIDC_ALLOWED_DOMAINS,
    }
  if (issuer !== undefined) throw new ConfigError('PARLEY_OIDC_CLIENT_ID: must be set where PARLEY_OIDC_ISSUER is')
  if (clientId !== undefined) throw new ConfigError('PARLEY_OIDC_ISSUER: must be set where PARLEY_OIDC_CLIENT_ID is')
  return null
}

const isKnown = (name: string): boolean => name in Environment.shape || clientVariables.includes(name)

function suggestion(name: string): string {
  const known = Object.keys(Environment.shape).filter((variable) => variable.startsWith('PARLEY_'))
  const nearest = known.toSorted((a, b) => leven(name, a) - leven(name, b))[0] ?? ''
  const hint = leven(name, nearest) <= 4 ? `Did you mean ${nearest}?` : `There are: ${known.join(', ')}.`
  return `${name}: there is no such variable. ${hint}`
}

function complaint(issue: z.core.$ZodIssue, said: Record<string, string | undefined>): string {
  const name = String(issue.path[0])
  const seen = secretVariables.includes(name) ? '' : ` (it is ${JSON.stringify(said[name])})`
  return `${name}: ${issue.message}${seen}`
}
