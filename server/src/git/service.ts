import type { GitAccount, ProviderTokens } from '@parley/contract/git'
import type { GitProvider } from '@parley/contract/git-provider'
import { type Fetch, type Forge, ForgeError } from '@parley/forge/forge'
import type { Clock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import type { Cursor } from '@parley/store/page'
import type { Seal } from '@parley/store/seal'
import { checkedConnections } from './connect.ts'
import { connections } from './connections.ts'
import { credentialFor, type GitRequest } from './credential.ts'
import { repositories } from './repository.ts'
import { gitSearch } from './search.ts'
import type { GitStore } from './store.ts'

export type { CloneSource } from './repository.ts'
export type { GitCredential, GitRequest } from './credential.ts'

const ACCOUNT_MS = 5_000

interface Parts {
  store: GitStore
  apart: Database['apart']
  seal: Seal
  clock: Clock
  cursor: Cursor
  /** Refuses addresses that may not be reached. */
  fetch: Fetch
  /** `host:port` that may be reached although private. */
  privateHosts: readonly string[]
}

export type Git = ReturnType<typeof gitService>

/** People's accounts at forges: connecting them, and what other parts of the house may do with them. */
export function gitService(parts: Parts) {
  const { store, cursor } = parts
  const open = connections(parts)
  const { access, source } = repositories(open)
  return {
    /** Checks every token at its forge first; then these are the owner's connections, all or none of it. */
    async connect(owner: string, tokens: ProviderTokens): Promise<void> {
      await store.put(owner, await checkedConnections(parts, owner, tokens), true)
    },

    /** As `connect`, and the connections of other kinds stay. */
    async add(owner: string, tokens: ProviderTokens): Promise<void> {
      await store.put(owner, await checkedConnections(parts, owner, tokens), false)
    },

    disconnect: (owner: string, kind: GitProvider | null): Promise<void> => store.remove(owner, kind),

    /** Kind to host, of what is connected. */
    async connected(owner: string): Promise<Partial<Record<GitProvider, string>>> {
      return Object.fromEntries((await store.list(owner)).map(({ kind, host }) => [kind, shown(host)]))
    },

    /** The name of the owner's account, as it was when it was connected; null: none is. */
    account: async (owner: string, kind: GitProvider): Promise<string | null> =>
      (await store.find(owner, kind))?.account || null,

    /** Who the owner is at each forge; one that does not answer now is shown as it was when it was connected. */
    async accounts(owner: string): Promise<GitAccount[]> {
      const rows = await store.list(owner)
      const opened = await open.openAll(owner, AbortSignal.timeout(ACCOUNT_MS))
      return Promise.all(
        opened.map(async ({ kind, host, forge }) => {
          const stored = rows.find((row) => row.kind === kind)?.account ?? ''
          return { git_provider: kind, host: shown(host), ...(await forge.whoAmI().catch(asStored(stored))) }
        }),
      )
    },

    ...gitSearch({ connections: open, cursor }),

    /** Before a start: where the repository is. Rejects with `repository_not_accessible`; takes at most 3 s. */
    repositoryAccess: access,

    cloneSource: source,

    /** The forge itself, for one piece of work. Rejects with `forge_not_connected`. */
    async forge(owner: string, kind: GitProvider, signal: AbortSignal): Promise<Forge> {
      return (await open.open(owner, kind, signal)).forge
    },

    /** For the way out of a sandbox; fresh at each use. */
    credentialFor: (asked: GitRequest) => credentialFor(open, asked),
  }
}

/** As people write it; `connect` takes it back. */
const shown = (host: string): string => host.replace(/^https:\/\//, '')

const asStored = (login: string) => (error: unknown) => {
  if (!(error instanceof ForgeError)) throw error
  return { id: '', login, name: null, email: null, avatar_url: null, company: null }
}
