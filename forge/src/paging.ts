import type { Branch } from '@parley/contract/git'
import { ForgeError, type Listing } from './forge.ts'
import { eachOf } from './tasks.ts'

const MOST_PAGES = 1000

/** One page of a forge's own listing: `at` is null for the first, and after that what the page before called `next`. */
export type ReadPage<T> = (at: string | null) => Promise<Listing<T>>

interface Choice<T> {
  cursor: string | null
  limit: number
  keep?: (item: T) => boolean
  /** What makes an item the same one: a list that grows while it is read shows things twice. */
  key: (item: T) => string
}

interface Walk<T> extends Choice<T> {
  read: ReadPage<T>
}

interface Merge<T> extends Choice<T> {
  /** Listings by name, each in the order of `compare`. */
  sources: Record<string, ReadPage<T>>
  compare: (a: T, b: T) => number
}

interface Source<T> {
  name: string
  at: string | null
  index: number
  page: Listing<T> | null
}

/**
 * At most `limit` items from a forge that caps the size of its pages. The cursor is the forge's page and the index in it of
 * the first item not yet given, so nothing is dropped between pages, and it is null unless such an item was seen.
 */
export const walk = <T>({ read, ...choice }: Walk<T>): Promise<Listing<T>> =>
  merge({ ...choice, sources: { '': read }, compare: () => 0 })

/** The same over several listings at once, as if they were one in their common order. */
export async function merge<T>({ cursor, limit, sources, compare, keep = () => true, key }: Merge<T>) {
  const open = positions<T>(cursor, Object.keys(sources))
  const items: T[] = []
  const given = new Set<string>()
  let pages = 0

  async function head(source: Source<T>): Promise<{ source: Source<T>; item: T } | undefined> {
    for (;;) {
      source.page ??= await page(source)
      for (; source.index < source.page.items.length; source.index++) {
        const item = source.page.items[source.index] as T
        if (keep(item) && !given.has(key(item))) return { source, item }
      }
      if (source.page.next === null) return undefined
      Object.assign(source, { at: source.page.next, index: 0, page: null })
    }
  }

  function page({ name, at }: Source<T>): Promise<Listing<T>> {
    if (++pages > MOST_PAGES) throw new ForgeError('failed', 'The forge lists too much to search through.')
    return (sources[name] as ReadPage<T>)(at)
  }

  for (;;) {
    const heads = (await eachOf(open, head)).filter((one) => one !== undefined)
    const [best] = heads.sort((a, b) => compare(a.item, b.item))
    if (best === undefined) return { items, next: null }
    if (items.length === limit) return { items, next: cursorOf(heads.map(({ source }) => source)) }
    items.push(best.item)
    given.add(key(best.item))
    best.source.index++
  }
}

const cursorOf = <T>(sources: Source<T>[]): string =>
  JSON.stringify(Object.fromEntries(sources.map(({ name, at, index }) => [name, [at, index]])))

/** Where each listing goes on; those that the cursor does not name have come to their end. */
function positions<T>(cursor: string | null, names: string[]): Source<T>[] {
  if (cursor === null) return names.map((name) => ({ name, at: null, index: 0, page: null }))
  const places = JSON.parse(cursor) as Record<string, [at: string | null, index: number]>
  return names.flatMap((name) => {
    const [at, index] = places[name] ?? []
    return at === undefined || index === undefined ? [] : [{ name, at, index, page: null }]
  })
}

/** A listing of a forge that numbers its pages from 1 and says whether there are more. */
export const numbered =
  <T>(read: (page: number) => Promise<{ items: T[]; more: boolean }>): ReadPage<T> =>
  async (at) => {
    const page = at === null ? 1 : Number(at)
    const { items, more } = await read(page)
    return { items, next: more ? String(page + 1) : null }
  }

/** Whether a `Link` header (RFC 8288) names a next page. */
export const hasNext = (headers: Headers): boolean => /\brel="?next"?/.test(headers.get('link') ?? '')

/** The filter of a branch search: part of a name or the beginning of a commit, in any case. */
export function branchFilter(query: string) {
  const wanted = query.trim().toLowerCase()
  return (branch: Branch): boolean =>
    branch.name.toLowerCase().includes(wanted) || branch.commit_sha.toLowerCase().startsWith(wanted)
}
