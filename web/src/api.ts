import { type Parley, parley } from '@parley/client/client'
import { Problem } from '@parley/contract/problems'
import { QueryCache, QueryClient, useInfiniteQuery } from '@tanstack/react-query'

/* The one way from the page to the service: the client, with the browser's session as its credential. */

/** A live channel sends a sign of life every 10 s, so silence of this length means that the connection is dead. */
const silenceMs = 45_000

export const client: Parley = parley({ baseUrl: '', timeoutMs: silenceMs })

/** True when the answer says that nobody is signed in. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof Problem && error.code === 'authentication_error'

/** True when nothing answers, which passes. */
export const isAway = (error: unknown): boolean => error instanceof Problem && error.status >= 502

let onSignedOut = () => {}
/** What happens when a session has ended while the page is open. */
export function whenSignedOut(act: () => void): void {
  onSignedOut = act
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => isSignedOut(error) && onSignedOut() }),
  defaultOptions: {
    queries: {
      staleTime: 5000,
      networkMode: 'always',
      retry: (count, error) => isAway(error) && count < 5,
      retryDelay: (count) => Math.min(500 * 2 ** count, 5000),
    },
    mutations: { networkMode: 'always' },
  },
})

export interface Pages<T> {
  items: T[]
  isLoading: boolean
  error: Error | null
  hasMore: boolean
  isLoadingMore: boolean
  more: () => void
}

/** A search as one growing list; `more` asks for the next page. */
export function usePages<T>(
  key: readonly unknown[],
  search: (pageId: string | undefined) => Promise<{ items: T[]; next_page_id: string | null }>,
  refetchInterval: number | false = false,
): Pages<T> {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => search(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_page_id ?? undefined,
    refetchInterval,
  })
  return {
    items: query.data?.pages.flatMap((page) => page.items) ?? [],
    isLoading: query.isLoading,
    error: query.error,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    more: () => void query.fetchNextPage(),
  }
}
