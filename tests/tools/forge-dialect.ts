import type { World } from './forge-world.ts'
import { rightOf } from './git-server.ts'

export interface RestCall {
  method: string
  /** Below the dialect's prefix, with its leading slash. */
  path: string
  query: URLSearchParams
  body: Record<string, unknown>
  login: string | null
  /** Address of the forge itself. */
  url: string
  world: World
  branchesOf: (repository: string) => Promise<{ name: string; sha: string; date: string }[]>
}

export interface RestAnswer {
  status: number
  body: unknown
  headers?: Record<string, string>
}

/** How one kind of forge says what the world holds. */
export interface Dialect {
  /** What comes before everything else in the paths of this forge, such as an organisation. */
  base: string
  /** The path that the routes know; undefined when the request is none of the REST interface. */
  rest: (path: string) => string | undefined
  /** A path of git as `/owner/name` and what follows. */
  git: (path: string) => string
  answer: (call: RestCall) => Promise<RestAnswer>
}

/** The parts in brackets of its path, decoded; the first is the repository when it has a slash. */
export type Route = (call: RestCall, ...parts: string[]) => RestAnswer | Promise<RestAnswer>
export type RouteTable = [method: string, path: RegExp, route: Route][]

export const ok = (body: unknown, headers: Record<string, string> = {}): RestAnswer => ({ status: 200, body, headers })

/** How the paths of a forge are read when they are not `prefix` and what the routes say. */
export type Paths = Pick<Dialect, 'base' | 'rest' | 'git'>

const below = (prefix: string): Paths => ({
  base: '',
  rest: (path) => (path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : undefined),
  git: (path) => path,
})

/** Finds the route; a repository that the caller may not read is as absent as one that is not there. */
export function dialect(paths: string | Paths, routes: RouteTable, absent: (call: RestCall) => RestAnswer): Dialect {
  return {
    ...(typeof paths === 'string' ? below(paths) : paths),
    async answer(call) {
      for (const [method, path, route] of routes) {
        const found = path.exec(call.path)
        if (found === null || method !== call.method) continue
        const parts = found.slice(1).map(decodeURIComponent)
        const name = parts[0]
        const hidden = name?.includes('/') === true && rightOf(call.world.repositories[name], call.login) === 'none'
        return hidden ? absent(call) : route(call, ...parts)
      }
      return absent(call)
    },
  }
}

/** One page of a list, numbered from 1, and the page numbers around it. */
export function pageOf<T>(
  call: RestCall,
  all: T[],
  { size, usual, cap }: { size: string; usual: number; cap: number },
) {
  const page = Math.max(1, Number(call.query.get('page') ?? 1))
  const limit = Math.min(cap, Number(call.query.get(size) ?? usual) || usual)
  const last = Math.max(1, Math.ceil(all.length / limit))
  const at = (number: number, rel: string) => `<${call.url}${call.path}?page=${number}>; rel="${rel}"`
  const links = [
    ...(page < last ? [at(page + 1, 'next'), at(last, 'last')] : []),
    ...(page > 1 ? [at(1, 'first'), at(page - 1, 'prev')] : []),
  ]
  return {
    items: all.slice((page - 1) * limit, page * limit),
    /** No `Link` at all when everything is on one page. */
    headers: (links.length === 0 ? {} : { link: links.join(', ') }) as Record<string, string>,
    total: all.length,
    page,
    limit,
    last,
  }
}
