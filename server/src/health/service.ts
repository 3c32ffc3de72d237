import type { GitProvider } from '@parley/contract/git-provider'
import type { ServerInfo, WebClientConfig } from '@parley/contract/health'
import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import type { Config } from '../config.ts'

/** What the server says about itself. */

export type Health = ReturnType<typeof healthService>

/** Whether the server wants new work. Whoever closes the server says so here first. */
export interface Readiness {
  closing: boolean
}

export interface HealthParts {
  database: Pick<Database, 'ping'>
  readiness: Readiness
  clock: Clock
  config: Pick<Config, 'role' | 'sandbox' | 'v0' | 'oidc'>
  version: string
  /** Whether the owner has set e-mail and password. */
  claimed: () => Promise<boolean>
  gitProviders: readonly GitProvider[]
}

const pingMs = 2_000

export function healthService({ database, readiness, clock, config, version, claimed, gitProviders }: HealthParts) {
  const startedAt = clock.millis()

  /** A database that does not answer at all must not keep the asker waiting. */
  async function ping(): Promise<void> {
    const over = new AbortController()
    const late = clock.sleep(pingMs, over.signal).then(() => {
      throw new Problem('unavailable', 'The database does not answer.')
    })
    late.catch(() => {})
    try {
      await Promise.race([database.ping(), late])
    } catch (error) {
      throw new Problem('unavailable', 'The database does not answer.', {}, { cause: error })
    } finally {
      over.abort()
    }
  }

  return {
    async health(): Promise<'OK'> {
      await ping()
      return 'OK'
    },

    async ready(): Promise<{ status: 'ready' }> {
      if (readiness.closing) throw new Problem('unavailable', 'The server is closing.')
      await ping()
      return { status: 'ready' }
    },

    info: (): ServerInfo => ({
      name: 'Parley',
      version,
      api_version: '1',
      role: config.role,
      sandbox_driver: config.sandbox,
      uptime_seconds: (clock.millis() - startedAt) / 1_000,
      v0_enabled: config.v0,
    }),

    webClient: async (): Promise<WebClientConfig> => ({
      version,
      claimed: await claimed(),
      sign_in: config.oidc === null ? ['password'] : ['password', 'enterprise_sso'],
      git_providers: [...gitProviders],
    }),
  }
}
