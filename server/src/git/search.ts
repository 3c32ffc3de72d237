import type { Branch, Repository, RepositorySortOrder } from '@parley/contract/git'
import type { GitProvider, SuggestedTask } from '@parley/contract/git-provider'
import type { Page } from '@parley/contract/page'
import { Problem } from '@parley/contract/problems'
import type { Listing } from '@parley/forge/forge'
import { forgeMember } from '@parley/forge/forges'
import type { Cursor } from '@parley/store/page'
import { notAForge } from './connect.ts'
import type { Connections } from './connections.ts'
import { atForge } from './failures.ts'

const SEARCH_MS = 20_000

interface Asked {
  page_id?: string | undefined
  limit: number
}

export interface RepositoryQuery extends Asked {
  provider: GitProvider
  query?: string | undefined
  installation_id?: string | undefined
  sort_order?: RepositorySortOrder | undefined
}

export interface BranchQuery extends Asked {
  provider: GitProvider
  repository: string
  query: string
}

/** Searches at the connected forges. A page id holds where the forge's own listing goes on. */
export function gitSearch({ connections, cursor }: { connections: Connections; cursor: Cursor }) {
  const deadline = () => AbortSignal.timeout(SEARCH_MS)

  async function paged<T>(
    query: string,
    page_id: string | undefined,
    list: (at: string | null) => Promise<Listing<T>>,
  ) {
    const at = page_id === undefined ? null : String(cursor.read(page_id, query)[0])
    const { items, next } = await atForge(() => list(at))
    return { items, next_page_id: next === null ? null : cursor.write({ query, at: [next] }) }
  }

  return {
    async installations(owner: string, { provider, page_id, limit }: Asked & { provider: GitProvider }) {
      if (forgeMember(provider) === undefined) throw new Problem('not_offered', notAForge)
      const { forge } = await connections.open(owner, provider, deadline())
      return paged(key(owner, 'installations', provider), page_id, async (at) =>
        cut(await forge.installations(), at, limit),
      )
    },

    async repositories(owner: string, asked: RepositoryQuery): Promise<Page<Repository>> {
      const { provider, query = null, installation_id = null, sort_order = null, page_id, limit } = asked
      if (sort_order !== null && query === null) throw new Problem('sort_order_without_query')
      const { forge } = await connections.open(owner, provider, deadline())
      const name = key(owner, 'repositories', provider, query, installation_id, sort_order)
      return paged(name, page_id, (at) =>
        forge.repositories({ query, installationId: installation_id, sort: sort_order, cursor: at, limit }),
      )
    },

    async branches(owner: string, { provider, repository, query, page_id, limit }: BranchQuery): Promise<Page<Branch>> {
      const { forge } = await connections.open(owner, provider, deadline())
      return paged(key(owner, 'branches', provider, repository, query), page_id, (at) =>
        forge.branches(repository, { query, cursor: at, limit }),
      )
    },

    /** Of all connected forges; one that fails does not hide what the others have. */
    async suggestedTasks(owner: string, { page_id, limit }: Asked): Promise<Page<SuggestedTask>> {
      const connected = await connections.openAll(owner, deadline())
      if (connected.length === 0) throw new Problem('forge_not_connected')
      return paged(key(owner, 'suggested-tasks'), page_id, async (at) => {
        const lists = await Promise.allSettled(connected.map(({ forge }) => forge.suggestedTasks()))
        const tasks = lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []))
        return cut(tasks, at, limit)
      })
    },
  }
}

const key = (...parts: (string | null)[]): string => JSON.stringify(parts)

/** A page of a list that the forge gives as a whole. */
function cut<T>(all: T[], at: string | null, limit: number): Listing<T> {
  const start = Number(at ?? 0)
  const end = start + limit
  return { items: all.slice(start, end), next: end < all.length ? String(end) : null }
}
