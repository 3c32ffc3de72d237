import type { Branch, GitAccount, Repository, RepositorySortOrder } from '@parley/contract/git'
import { repositoryName } from '@parley/contract/git-names'
import type { GitProvider, SuggestedTask } from '@parley/contract/git-provider'

/*
 * A forge is a service that hosts Git repositories. A member of this family speaks for one account at one forge and keeps
 * nothing: it is opened with a token for one piece of work and thrown away, so a token is fresh at each use.
 */

/** The part of `fetch` that forges need. Redirects are its business: none, or without credentials to another origin. */
export type Fetch = (url: string, init: ForgeRequest) => Promise<ForgeResponse>

export interface ForgeRequest {
  method: string
  headers: Record<string, string>
  body: string | null
  redirect: 'manual'
  signal: AbortSignal
}

export interface ForgeResponse {
  readonly ok: boolean
  readonly status: number
  readonly headers: { get(name: string): string | null; has(name: string): boolean }
  readonly body: AsyncIterable<Uint8Array> | null
}

/** One account at one forge, for one piece of work. */
export interface Account {
  /** Address of the forge without a slash at the end, such as `https://git.example.com`; the API's path is ours to know. */
  host: string
  /** Null: what everybody may see. */
  token: string | null
  /** Every request goes through it: it refuses addresses that may not be reached. */
  fetch: Fetch
  /** Ends all that this account does; the deadline of the work. */
  signal: AbortSignal
}

/** Whose account it is, at the forge. */
export type ForgeUser = Omit<GitAccount, 'git_provider' | 'host'>

/** `next` is null at the end; a listing that has a next one is never empty. */
export interface Listing<T> {
  items: T[]
  next: string | null
}

export interface RepositorySearch {
  /** Words, or the address of a repository of this forge. Null: the account's own, most recently pushed first. */
  query: string | null
  /** Only of this installation; not looked at when there is a query. */
  installationId: string | null
  /** Not looked at without a query; null is `stars-desc`. */
  sort: RepositorySortOrder | null
  cursor: string | null
  limit: number
}

export interface BranchSearch {
  /** Part of a name or the beginning of a commit, in any case; empty: all. */
  query: string
  cursor: string | null
  limit: number
}

export interface NewComment {
  repository: string
  /** Some forges number them apart. */
  on: 'issue' | 'pull_request'
  number: number
  body: string
  /** Into the thread of this review comment where the forge has threads, else to the end of the conversation. */
  inReplyTo: string | null
}

export interface NewPullRequest {
  repository: string
  head: string
  base: string
  title: string
  body: string
}

/** Every method rejects with `ForgeError`, or with the signal's own reason when the work was called off. */
export interface Forge {
  readonly kind: GitProvider
  whoAmI(): Promise<ForgeUser>
  /** Null: absent or out of reach, which a forge does not tell apart. */
  repository(fullName: string): Promise<Repository | null>
  repositories(search: RepositorySearch): Promise<Listing<Repository>>
  branches(repository: string, search: BranchSearch): Promise<Listing<Branch>>
  /** Ids, workspaces, projects or organisations: whatever this forge groups repositories by. */
  installations(): Promise<string[]>
  /** Pull requests of the account that conflict, fail checks or wait for an answer, then issues assigned to it. */
  suggestedTasks(): Promise<SuggestedTask[]>
  /** Address for `git clone`, without any credential. */
  cloneUrl(fullName: string): string
  /** For git over HTTP: basic authentication, or a bearer token where there is no user name. Null without a token. */
  credential(): { username: string | null; password: string } | null
  comment(comment: NewComment): Promise<{ url: string }>
  createPullRequest(request: NewPullRequest): Promise<{ number: number; url: string }>
}

export type ForgeFailure =
  | 'token_rejected'
  | 'forbidden'
  | 'not_found'
  | 'not_offered'
  | 'rate_limited'
  | 'failed'
  | 'timed_out'

/** Why a forge did not do it. The message is safe to show; it never has a token or an answer's body in it. */
export class ForgeError extends Error {
  override name = 'ForgeError'
  readonly failure: ForgeFailure
  /** Seconds after which to ask again, when the forge said so. */
  readonly retryAfter: number | null

  constructor(failure: ForgeFailure, message: string, options: ErrorOptions & { retryAfter?: number | null } = {}) {
    super(message, options)
    this.failure = failure
    this.retryAfter = options.retryAfter ?? null
  }
}

/** `owner/name` in its parts; undefined when it has another form, so that no text reaches a path or a URL unchecked. */
export function ownerAndName(fullName: string): { owner: string; name: string } | undefined {
  if (!repositoryName(fullName)) return undefined
  const slash = fullName.indexOf('/')
  return { owner: fullName.slice(0, slash), name: fullName.slice(slash + 1) }
}
