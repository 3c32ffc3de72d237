import type { World } from './forge-world.ts'

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
  prefix: string
  answer: (call: RestCall) => Promise<RestAnswer>
}
