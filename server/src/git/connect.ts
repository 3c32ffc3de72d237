import type { ProviderToken, ProviderTokens } from '@parley/contract/git'
import type { GitProvider } from '@parley/contract/git-provider'
import { Problem, wrongValue } from '@parley/contract/problems'
import { type Fetch, ForgeError } from '@parley/forge/forge'
import { type ForgeMember, forgeMember } from '@parley/forge/forges'
import type { Clock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import type { Seal } from '@parley/store/seal'
import { tokenPlace } from './connections.ts'
import { atForge } from './failures.ts'
import type { ConnectionRow, GitStore } from './store.ts'

/** What everybody is told who takes a way to sign in for a place of repositories. */
export const notAForge =
  'enterprise_sso is a way to sign in, by OpenID Connect: it holds no repositories and takes no token.'

const CHECK_MS = 10_000

interface Parts {
  store: GitStore
  /** A transaction around does not begin before the forge has answered. */
  apart: Database['apart']
  seal: Seal
  fetch: Fetch
  clock: Clock
  /** `host:port` that may be reached although private; a token goes over plain http to these only. */
  privateHosts: readonly string[]
}

/**
 * The rows for `tokens`, each token proven at its forge. An entry without a token keeps the stored one, but only at the
 * host that it was stored for: a token is never sent to another host than its owner gave it for.
 */
export async function checkedConnections(
  parts: Parts,
  owner: string,
  tokens: ProviderTokens,
): Promise<ConnectionRow[]> {
  const stored = new Map((await parts.apart(() => parts.store.list(owner))).map((row) => [row.kind, row]))
  const entries = Object.entries(tokens) as [GitProvider, ProviderToken][]
  return Promise.all(entries.map(([kind, entry]) => checkedConnection(parts, owner, kind, entry, stored.get(kind))))
}

async function checkedConnection(
  { seal, fetch, clock, privateHosts }: Parts,
  owner: string,
  kind: GitProvider,
  entry: ProviderToken,
  stored: ConnectionRow | undefined,
): Promise<ConnectionRow> {
  const member = forgeMember(kind)
  if (member === undefined) throw new Problem('not_offered', notAForge)
  const host = baseUrl(kind, entry, stored, member, privateHosts)
  const fresh = entry.token !== null && entry.token !== ''
  if (!fresh && stored?.host !== host) throw wrong(kind, 'token', 'must be sent: none is stored for this host')
  const place = tokenPlace(kind)
  const token = fresh ? entry.token : await seal.open(owner, place, stored?.sealed_token ?? '')
  const signal = AbortSignal.timeout(CHECK_MS)
  const { login } = await atForge(() => member.open({ host, token, fetch, signal }).whoAmI().catch(notTheForge))
  const sealed_token = await seal.close(owner, place, token ?? '')
  const now = clock.now()
  return { owner_id: owner, kind, host, account: login, sealed_token, created_at: now, updated_at: now }
}

/** A host without the interface of its kind has nothing where the account is asked for. */
function notTheForge(error: unknown): never {
  const absent = error instanceof ForgeError && error.failure === 'not_found'
  throw absent
    ? new ForgeError('failed', 'The host does not answer like a forge of this kind.', { cause: error })
    : error
}

function baseUrl(
  kind: GitProvider,
  { host }: ProviderToken,
  stored: ConnectionRow | undefined,
  member: ForgeMember,
  privateHosts: readonly string[],
): string {
  const said = host === null || host === '' ? (stored?.host ?? member.defaultHost) : host
  if (said === null)
    throw wrong(kind, 'host', member.host?.must ?? 'must be sent: a forge of this kind has no public host')
  const url = new URL(/^https?:\/\//i.test(said) ? said : `https://${said}`)
  if (member.host?.is(url) === false) throw wrong(kind, 'host', member.host.must)
  const address = `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`
  if (url.protocol !== 'https:' && !privateHosts.includes(address)) {
    throw wrong(kind, 'host', 'must be reached over https')
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

const wrong = (kind: GitProvider, field: string, msg: string): Problem =>
  wrongValue(['provider_tokens', kind, field], msg)
