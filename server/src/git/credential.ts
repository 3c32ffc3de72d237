import { repositoryName } from '@parley/contract/git-names'
import type { GitProvider } from '@parley/contract/git-provider'
import { forgeMember, offeredForges } from '@parley/forge/forges'
import type { Connections } from './connections.ts'

/*
 * What the way out of a sandbox puts into git's requests. The sandbox itself has no token: it asks its forge over plain
 * http through the proxy, and the proxy asks the forge with the credential over the forge's own scheme.
 */

const UNSEAL_MS = 5_000

type Wanted = GitRequest['repositories'][number]

export interface GitRequest {
  owner: string
  /** What the conversations in the sandbox work on; `provider` null: any. */
  repositories: readonly { provider: GitProvider | null; name: string }[]
  scheme: 'http' | 'https'
  host: string
  port: number
  /** With its query. */
  path: string
  method: string
}

export interface GitCredential {
  /** Empty: the forge is asked as anybody may ask it. */
  headers: { authorization?: string }
  /** Of the forge; a plain request is sent on with it. */
  scheme: 'http' | 'https'
  /** Whether it is about a repository that a conversation works on. */
  about: boolean
}

/**
 * What goes along with one request; null when it is none of git's or goes to no forge that we know. No credential goes
 * along when it would change a repository that the conversation is not about. Other repositories of the account may be
 * read: submodules and packages are there.
 */
export async function credentialFor(connections: Connections, asked: GitRequest): Promise<GitCredential | null> {
  const connected = await connections.openAll(asked.owner, AbortSignal.timeout(UNSEAL_MS))
  const one = connected.find(({ host }) => goesTo(host, asked))
  const host = one?.host ?? publicForges.find((forge) => goesTo(forge, asked))
  const call = host === undefined ? undefined : gitCall(asked, new URL(host).pathname)
  if (host === undefined || call === undefined) return null
  const kind = one?.kind ?? offeredForges().find((offered) => forgeMember(offered)?.defaultHost === host)
  const about = asked.repositories.some((wanted) => isSame(wanted, kind, call.repository))
  const credential = call.writes && !about ? null : (one?.forge.credential() ?? null)
  return { headers: credential === null ? {} : basic(credential), scheme: schemeOf(host), about }
}

const publicForges = offeredForges().flatMap((kind) => forgeMember(kind)?.defaultHost ?? [])

const basic = ({ username, password }: { username: string; password: string }) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
})

const schemeOf = (host: string): 'http' | 'https' => (host.startsWith('https:') ? 'https' : 'http')

/** A plain request to port 80 counts as one to an https forge's own port: it is sent on as https. */
function goesTo(forge: string, { scheme, host, port }: GitRequest): boolean {
  const { hostname, port: said } = new URL(forge)
  const own = said === '' ? (schemeOf(forge) === 'https' ? 443 : 80) : Number(said)
  const upgraded = scheme === 'http' && port === 80 && own === 443
  return hostname.toLowerCase() === host.toLowerCase() && (port === own || upgraded)
}

const isSame = (wanted: Wanted, kind: GitProvider | undefined, repository: string): boolean =>
  (wanted.provider === null || wanted.provider === kind) && wanted.name.toLowerCase() === repository.toLowerCase()

/** Large files go their own way: one call asks for reading and writing alike, so it counts as writing. */
const calls = /^\/([\w.-]+\/[\w.-]+?)(?:\.git)?\/(info\/refs|git-(?:upload|receive)-pack|info\/lfs\/objects\/batch)$/

/** The repository and whether the request can change it; undefined when it is none of git's smart HTTP requests. */
function gitCall({ method, path }: GitRequest, prefix: string): { repository: string; writes: boolean } | undefined {
  const below = prefix === '/' ? path : path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : ''
  const mark = below.indexOf('?')
  const query = mark < 0 ? '' : below.slice(mark + 1)
  const [, repository = '', what = ''] = calls.exec(mark < 0 ? below : below.slice(0, mark)) ?? []
  if (!repositoryName(repository)) return undefined
  if (what !== 'info/refs') {
    return method === 'POST' && query === '' ? { repository, writes: what !== 'git-upload-pack' } : undefined
  }
  const services = new URLSearchParams(query).getAll('service')
  const known = services.length === 1 && /^git-(upload|receive)-pack$/.test(services[0] ?? '')
  return method === 'GET' && known ? { repository, writes: services[0] === 'git-receive-pack' } : undefined
}
