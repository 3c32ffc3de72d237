import { type HostedSetup, rightOf } from './git-server.ts'

/*
 * What a forge for tests knows, apart from how it says it: the same world is told in the words of each kind of forge.
 */

export interface IssueSetup {
  number: number
  title: string
  author: string
  assignee?: string
}

export interface PullSetup extends Omit<IssueSetup, 'assignee'> {
  /** Default true. */
  mergeable?: boolean
  checks?: 'success' | 'failure' | 'pending'
  /** Logins of reviewers who wait for an answer. */
  reviewers?: string[]
}

export interface HostedRepository extends HostedSetup {
  stars?: number
  forks?: number
  /** ISO 8601. */
  pushedAt?: string
  protectedBranches?: string[]
  issues?: IssueSetup[]
  pulls?: PullSetup[]
}

export interface World {
  /** Logins; the position plus one is the user's id. */
  users: string[]
  repositories: Record<string, HostedRepository>
  comments: { repository: string; number: number; author: string; body: string; inReplyTo: string | null }[]
  pulls: { repository: string; number: number; author: string; head: string; base: string; title: string }[]
}

export const userId = (world: World, login: string): number => world.users.indexOf(login) + 1
export const repositoryId = (world: World, name: string): number => Object.keys(world.repositories).indexOf(name) + 100

/** The repositories that `login` may read, by name. */
export const readable = (world: World, login: string | null): string[] =>
  Object.keys(world.repositories).filter((name) => rightOf(world.repositories[name], login) !== 'none')

/** Those of them that `login` may write: its own and those it works on. */
export const writable = (world: World, login: string): string[] =>
  Object.keys(world.repositories).filter((name) => rightOf(world.repositories[name], login) === 'write')

/** Every issue or pull request with the repository it is in. */
export function everywhere<K extends 'issues' | 'pulls'>(world: World, kind: K) {
  type Item = NonNullable<HostedRepository[K]>[number]
  return Object.entries(world.repositories).flatMap(([repository, hosted]) =>
    ((hosted[kind] ?? []) as Item[]).map((item) => ({ ...item, repository })),
  )
}

const orders = {
  stars: (hosted: HostedRepository) => hosted.stars ?? 0,
  forks: (hosted: HostedRepository) => hosted.forks ?? 0,
  updated: (hosted: HostedRepository) => Date.parse(hosted.pushedAt ?? '2024-01-01T00:00:00Z'),
}

/** Names in the order of stars, forks or the last push; in their own order when the forge is told no other. */
export function sorted(world: World, names: string[], by: string | null, direction: string | null): string[] {
  if (by === null || !Object.hasOwn(orders, by)) return [...names].sort()
  const order = orders[by as keyof typeof orders]
  const sign = direction === 'desc' ? -1 : 1
  const rank = (name: string) => order(world.repositories[name] as HostedRepository)
  return [...names].sort((a, b) => sign * (rank(a) - rank(b)) || a.localeCompare(b))
}
