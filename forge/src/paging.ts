import type { Branch } from '@parley/contract/git'
import { ForgeError, type Listing } from './forge.ts'

const MOST_PAGES = 1000

interface Walk<T> {
  cursor: string | null
  limit: number
  /** The forge's own page, 1 is the first; `more` when another follows. */
  read: (page: number) => Promise<{ items: T[]; more: boolean }>
  keep?: (item: T) => boolean
  /** What makes an item the same one: a list that grows while it is read shows things twice. */
  key: (item: T) => string
}

/**
 * At most `limit` items from a forge that numbers its pages and caps their size. The cursor is `page.index` of the first
 * item not yet given, so nothing is dropped between pages, and it is null unless such an item was seen.
 */
export async function walk<T>({ cursor, limit, read, keep = () => true, key }: Walk<T>): Promise<Listing<T>> {
  const items: T[] = []
  const given = new Set<string>()
  let { page, index } = position(cursor)
  for (const last = page + MOST_PAGES; page < last; page++, index = 0) {
    const found = await read(page)
    for (; index < found.items.length; index++) {
      const item = found.items[index] as T
      if (!keep(item) || given.has(key(item))) continue
      if (items.length === limit) return { items, next: `${page}.${index}` }
      items.push(item)
      given.add(key(item))
    }
    if (!found.more) return { items, next: null }
  }
  throw new ForgeError('failed', 'The forge lists too much to search through.')
}

function position(cursor: string | null): { page: number; index: number } {
  if (cursor === null) return { page: 1, index: 0 }
  const [, page, index] = /^(\d{1,9})\.(\d{1,9})$/.exec(cursor) ?? []
  if (page === undefined || index === undefined) throw new TypeError('The cursor was not issued by this listing.')
  return { page: Number(page), index: Number(index) }
}

/** Whether a `Link` header (RFC 8288) names a next page. */
export const hasNext = (headers: Headers): boolean => /\brel="?next"?/.test(headers.get('link') ?? '')

/** The filter of a branch search: part of a name or the beginning of a commit, in any case. */
export function branchFilter(query: string) {
  const wanted = query.trim().toLowerCase()
  return (branch: Branch): boolean =>
    branch.name.toLowerCase().includes(wanted) || branch.commit_sha.toLowerCase().startsWith(wanted)
}
