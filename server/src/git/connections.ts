import type { GitProvider } from '@parley/contract/git-provider'
import { Problem } from '@parley/contract/problems'
import type { Fetch, Forge } from '@parley/forge/forge'
import { forgeMember } from '@parley/forge/forges'
import type { Seal } from '@parley/store/seal'
import type { ConnectionRow, GitStore } from './store.ts'

export interface Connected {
  kind: GitProvider
  host: string
  forge: Forge
}

export type Connections = ReturnType<typeof connections>

/** Where in the database a token is, for its seal. */
export const tokenPlace = (kind: GitProvider): string => `forge_connection.sealed_token.${kind}`

/** Opens connected accounts. The token is read and unsealed at each use, so a new one counts at once. */
export function connections({ store, seal, fetch }: { store: GitStore; seal: Seal; fetch: Fetch }) {
  async function opened(row: ConnectionRow, signal: AbortSignal): Promise<Connected | undefined> {
    const { owner_id, kind, host, sealed_token } = row
    const member = forgeMember(kind)
    if (member === undefined) return undefined
    const token = await seal.open(owner_id, tokenPlace(kind), sealed_token)
    return { kind, host, forge: member.open({ host, token, fetch, signal }) }
  }
  const find = async (owner: string, kind: GitProvider, signal: AbortSignal): Promise<Connected | undefined> => {
    const row = await store.find(owner, kind)
    return row === undefined ? undefined : opened(row, signal)
  }
  return {
    find,

    /** Rejects with `forge_not_connected`. */
    async open(owner: string, kind: GitProvider, signal: AbortSignal): Promise<Connected> {
      const found = await find(owner, kind, signal)
      if (found === undefined) throw new Problem('forge_not_connected')
      return found
    },

    /** In the order of their kinds' names. */
    async openAll(owner: string, signal: AbortSignal): Promise<Connected[]> {
      const found = await Promise.all((await store.list(owner)).map((row) => opened(row, signal)))
      return found.filter((one) => one !== undefined)
    },
  }
}
