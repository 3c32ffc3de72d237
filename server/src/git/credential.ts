import type { GitProvider } from '@parley/contract/git-provider'
import { type Places, repositoryOfGit, usualPlaces } from '@parley/forge/address'
import type { Forge } from '@parley/forge/forge'
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
  if (host === undefined) return null
  const kind = one?.kind ?? offeredForges().find((offered) => forgeMember(offered)?.defaultHost === host)
  const places = (kind === undefined ? undefined : forgeMember(kind)?.places) ?? usualPlaces
  const call = gitCall(asked, new URL(host).pathname, places)
  if (call === undefined) return null
  const about = asked.repositories.some((wanted) => isSame(wanted, kind, call.repository))
  const credential = call.writes && !about ? null : (one?.forge.credential() ?? null)
  return {
    headers: credential === null ? {} : { authorization: authorization(credential) },
    scheme: schemeOf(host),
    about,
  }
}

const publicForges = offeredForges().flatMap((kind) => forgeMember(kind)?.defaultHost ?? [])

const authorization = ({ username, password }: NonNullable<ReturnType<Forge['credential']>>): string =>
  username === null ? `Bearer ${password}` : `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

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
const calls = /^(\/.+)\/(info\/refs|git-(?:upload|receive)-pack|info\/lfs\/objects\/batch)$/

interface GitCall {
  repository: string
  writes: boolean
}

/** The repository and whether the request can change it; undefined when it is none of git's smart HTTP requests. */
function gitCall({ method, path }: GitRequest, prefix: string, places: Places): GitCall | undefined {
  const below = prefix === '/' ? path : path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : ''
  const mark = below.indexOf('?')
  const query = mark < 0 ? '' : below.slice(mark + 1)
  const [, folder = '', what = ''] = calls.exec(mark < 0 ? below : below.slice(0, mark)) ?? []
  const repository = repositoryOfGit(places, folder)
  if (repository === undefined) return undefined
  if (what !== 'info/refs') {
    return method === 'POST' && query === '' ? { repository, writes: what !== 'git-upload-pack' } : undefined
  }
  const services = new URLSearchParams(query).getAll('service')
  const known = services.length === 1 && /^git-(upload|receive)-pack$/.test(services[0] ?? '')
  return method === 'GET' && known ? { repository, writes: services[0] === 'git-receive-pack' } : undefined
}
