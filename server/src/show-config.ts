import { shownKubernetes } from './config-kubernetes.ts'
import type { Config, Variable } from './config.ts'
import { showLimits } from './limits.ts'

/** The effective values, one `NAME=value` a line secrets masked and what is unset empty; then the limits as YAML. */
export function showConfig(config: Config): string {
  const shown: Record<Exclude<Variable, 'XDG_RUNTIME_DIR'>, string> = {
    PARLEY_HOST: config.host,
    PARLEY_PORT: String(config.port),
    PARLEY_BASE_URL: config.baseUrl ?? '',
    PARLEY_APPS_URL: config.appsUrl ?? '',
    PARLEY_DATA_DIR: config.dataDir,
    DATABASE_URL: config.databaseUrl === null ? '' : maskedUrl(config.databaseUrl),
    PARLEY_ROLE: config.role,
    PARLEY_SANDBOX: config.sandbox,
    PARLEY_SANDBOX_IMAGE: config.sandboxImages.join(','),
    DOCKER_HOST: config.dockerHost,
    ...shownKubernetes(config.kubernetes),
    PARLEY_SANDBOX_DANGEROUSLY_UNISOLATED: config.unisolated ? 'on' : 'off',
    PARLEY_SECRET_KEY: config.secretKey === null ? '' : '***',
    PARLEY_OWNER_API_KEY: config.ownerApiKey === null ? '' : 'prl_***',
    PARLEY_OWNER_EMAIL: config.ownerEmail ?? '',
    PARLEY_OIDC_ISSUER: config.oidc?.issuer ?? '',
    PARLEY_OIDC_CLIENT_ID: config.oidc?.clientId ?? '',
    PARLEY_OIDC_CLIENT_SECRET: (config.oidc?.clientSecret ?? null) === null ? '' : '***',
    PARLEY_OIDC_ALLOWED_DOMAINS: config.oidc?.allowedDomains.join(',') ?? '',
    PARLEY_V0: config.v0 ? 'on' : 'off',
    PARLEY_PRIVATE_HOSTS: config.privateHosts.join(','),
    PARLEY_LIMITS: config.limitsFile ?? '',
    PARLEY_LOG_LEVEL: config.logLevel,
  }
  return Object.entries(shown)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
    .concat('\n', showLimits(config.limits))
}

function maskedUrl(text: string): string {
  const url = new URL(text)
  if (url.password !== '') url.password = '***'
  for (const name of url.searchParams.keys()) if (/pass|secret|token|key/i.test(name)) url.searchParams.set(name, '***')
  return url.href
}
