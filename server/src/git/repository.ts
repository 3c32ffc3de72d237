import { repositoryName } from '@parley/contract/git-names'
import type { GitProvider } from '@parley/contract/git-provider'
import { Problem } from '@parley/contract/problems'
import { cloneUrl, usualPlaces } from '@parley/forge/address'
import { ForgeError } from '@parley/forge/forge'
import { forgeMember } from '@parley/forge/forges'
import type { Connected, Connections } from './connections.ts'

const CHECK_MS = 3_000
/** Where a repository is looked for when nothing says where. */
const USUAL: GitProvider = 'forge_a'

export interface CloneSource {
  kind: GitProvider
  /** Base URL of the forge. */
  host: string
  /** For `git clone`, without any credential; what is remembered and shown. */
  url: string
  /** The same over plain http: what git in a sandbox asks of its way out, which asks the forge over its own scheme. */
  plainUrl: string
}

/**
 * Where a repository is. One that a connected forge says is out of reach rejects with `repository_not_accessible`, the
 * same whether it is absent or forbidden. A forge that does not answer within 3 s settles nothing: the clone will.
 */
export function repositories(connections: Connections) {
  async function access(owner: string, kind: GitProvider | null, fullName: string): Promise<CloneSource> {
    if (!repositoryName(fullName))
      throw new Problem('validation_error', 'selected_repository must have the form owner/name')
    const signal = AbortSignal.timeout(CHECK_MS)
    const connected = await candidates(connections, owner, kind, signal)
    if (connected.length === 0) return unconnected(kind === null || kind === 'enterprise_sso' ? USUAL : kind, fullName)
    const answers = await Promise.all(connected.map((one) => look(one, fullName)))
    const at = (answer: Answer) => connected[answers.indexOf(answer)]
    const best = at('there') ?? at('unknown')
    if (best !== undefined) return sourceAt(best, fullName)
    if (answers.every((answer) => answer === 'rejected')) {
      throw new Problem('repository_not_accessible', 'The forge rejected the stored token: connect the forge again.')
    }
    throw new Problem('repository_not_accessible')
  }

  return {
    access,

    /** Without looking whether it is there. */
    async source(owner: string, kind: GitProvider, fullName: string): Promise<CloneSource> {
      const found = await connections.find(owner, kind, AbortSignal.timeout(CHECK_MS))
      return found === undefined ? unconnected(kind, fullName) : sourceAt(found, fullName)
    },
  }
}

type Answer = 'there' | 'absent' | 'rejected' | 'unknown'

async function look({ forge }: Connected, fullName: string): Promise<Answer> {
  try {
    return (await forge.repository(fullName)) === null ? 'absent' : 'there'
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    return error.failure === 'token_rejected' ? 'rejected' : 'unknown'
  }
}

/** Who signs in by `enterprise_sso` says nothing about where the repository is. */
async function candidates(connections: Connections, owner: string, kind: GitProvider | null, signal: AbortSignal) {
  if (kind === null || kind === 'enterprise_sso') return connections.openAll(owner, signal)
  const found = await connections.find(owner, kind, signal)
  return found === undefined ? [] : [found]
}

const sourceAt = ({ kind, host, forge }: Connected, fullName: string): CloneSource =>
  cloneSource(kind, host, forge.cloneUrl(fullName))

const cloneSource = (kind: GitProvider, host: string, url: string): CloneSource => ({
  kind,
  host,
  url,
  plainUrl: url.replace(/^https:/, 'http:'),
})

const nowhere = { defaultHost: null, places: usualPlaces }

/** At the public host of the kind, as everybody sees it. */
function unconnected(kind: GitProvider, fullName: string): CloneSource {
  const { defaultHost: host, places } = forgeMember(kind) ?? nowhere
  if (host === null) throw new Problem('forge_not_connected')
  return cloneSource(kind, host, cloneUrl(host, places, fullName))
}
