import { z } from 'zod'
import { described } from './described.ts'
import { endpoint } from './endpoint.ts'
import { GitProvider } from './git-provider.ts'

export const getAlive = endpoint({
  method: 'GET',
  path: '/alive',
  summary: 'Ask whether the process answers',
  description: 'Says nothing about the database.',
  access: 'open',
  returns: z.object({ status: z.literal('ok').meta({ description: 'The program answers.' }) }),
  example: { returns: { status: 'ok' } },
})

export const getHealth = endpoint({
  method: 'GET',
  path: '/health',
  summary: 'Ask whether the service is healthy',
  description: 'The text OK once the service can reach its database.',
  access: 'open',
  returns: z.literal('OK'),
  fails: ['unavailable'],
  example: { returns: 'OK' },
})

export const getReady = endpoint({
  method: 'GET',
  path: '/ready',
  summary: 'Ask whether the service takes requests',
  description: 'Ready once the database answers and its tables are up to date; not ready while it shuts down.',
  access: 'open',
  returns: z.object({ status: z.literal('ready').meta({ description: 'It can do its work.' }) }),
  fails: ['unavailable'],
  example: { returns: { status: 'ready' } },
})

export const ServerInfo = z
  .object(
    described(
      {
        name: z.string(),
        version: z.string(),
        api_version: z.string(),
        role: z.enum(['all', 'api', 'agent']),
        sandbox_driver: z.string(),
        uptime_seconds: z.number().min(0),
        v0_enabled: z.boolean(),
      },
      {
        name: 'Of the program.',
        version: 'Of the program.',
        api_version: 'Of this interface.',
        role: 'What this process does: answers calls, runs agents, or both.',
        sandbox_driver: 'What sandboxes are made with.',
        uptime_seconds: 'Since this process began.',
        v0_enabled: 'Whether the deprecated interface answers.',
      },
    ),
  )
  .meta({ id: 'ServerInfo' })
export type ServerInfo = z.infer<typeof ServerInfo>

export const getServerInfo = endpoint({
  method: 'GET',
  path: '/server_info',
  summary: 'Get facts about the server',
  description: 'Version, role and how long it has been running.',
  access: 'user',
  returns: ServerInfo,
  example: {
    returns: {
      name: 'Parley',
      version: '0.1.0',
      api_version: '1',
      role: 'all',
      sandbox_driver: 'process',
      uptime_seconds: 12.5,
      v0_enabled: true,
    },
  },
})

/** What the page must know before anybody has signed in. */
export const WebClientConfig = z
  .object(
    described(
      {
        version: z.string(),
        claimed: z.boolean(),
        sign_in: z.array(z.enum(['password', 'enterprise_sso'])),
        git_providers: z.array(GitProvider),
      },
      {
        version: 'Of the program.',
        claimed: 'Whether the owner’s account is taken.',
        sign_in: 'The ways to sign in.',
        git_providers: 'Kinds of Git host that can be connected.',
      },
    ),
  )
  .meta({ id: 'WebClientConfig' })
export type WebClientConfig = z.infer<typeof WebClientConfig>

export const getWebClientConfig = endpoint({
  method: 'GET',
  path: '/api/v1/web-client/config',
  summary: 'Get what the web page needs before sign-in',
  description: 'Whether the owner has claimed the server, how one signs in, and which Git hosts it knows.',
  access: 'open',
  returns: WebClientConfig,
  example: {
    returns: { version: '0.1.0', claimed: true, sign_in: ['password'], git_providers: ['forge_a', 'open_forge'] },
  },
})

/** One thing that was looked at. `fatal`: nothing works without it. `fix`: the command or setting that mends it. */
export const Finding = z
  .object(
    described(
      {
        check: z.string(),
        ok: z.boolean(),
        fatal: z.boolean(),
        detail: z.string(),
        fix: z.string().nullable(),
      },
      {
        check: 'What was looked at.',
        ok: 'Whether it is as it should be.',
        fatal: 'Whether nothing works without it.',
        detail: 'What was found, in words.',
        fix: 'The command or setting that mends it; null: none is needed or known.',
      },
    ),
  )
  .meta({ id: 'Finding' })
export type Finding = z.infer<typeof Finding>

const exampleFinding = { check: 'database', ok: true, fatal: true, detail: 'It answers in 2 ms.', fix: null }

export const examineServer = endpoint({
  method: 'POST',
  path: '/api/v1/server/doctor',
  summary: 'Examine the server',
  description:
    'For the owner of the server: whether the database answers, there is room on the disk, and sandboxes are isolated, as ' +
    '`parley doctor` says it. Starts a sandbox to see, so it takes a few seconds.',
  access: 'settings:write',
  returns: z.array(Finding),
  fails: ['insufficient_scope', 'unavailable'],
  example: { returns: [exampleFinding] },
})

/** One bound of the server, as a limits file names it: `sandboxes.per_user`. Amounts have their unit. */
export const Limit = z
  .object(
    described(
      { name: z.string(), value: z.string(), is_default: z.boolean() },
      { name: 'As a limits file names it.', value: 'With its unit.', is_default: 'Whether nobody has set it.' },
    ),
  )
  .meta({ id: 'Limit' })
export type Limit = z.infer<typeof Limit>

export const listLimits = endpoint({
  method: 'GET',
  path: '/api/v1/server/limits',
  summary: 'List the bounds of the server',
  description: 'What the operator has bounded, each by its name in the limits file, and whether it is the default.',
  access: 'settings:read',
  returns: z.array(Limit),
  example: { returns: [{ name: 'sandboxes.per_user', value: '10', is_default: true }] },
})
