import type { ProjectSchema } from '@gitbeaker/core'
import type { Branch, Repository } from '@parley/contract/git'
import { cloneUrl, repositoryInAddress, usualPlaces } from './address.ts'
import { inPath, json, nullWhenOutOfReach, said } from './answers.ts'
import { type ForgeBResources, forgeBResources } from './forge-b-resources.ts'
import { forgeBTasks } from './forge-b-tasks.ts'
import {
  type Account,
  type BranchSearch,
  type Forge,
  ForgeError,
  type Listing,
  type NewComment,
  type NewPullRequest,
  type RepositorySearch,
} from './forge.ts'
import { branchFilter, numbered, walk } from './paging.ts'

const PAGE = 100

/** GitLab, its own or a company's: one REST interface under `/api/v4`. A pull request is its merge request. */
export function forgeB(account: Account): Forge {
  const { host, token } = account
  const at = forgeBResources(account)
  return {
    kind: 'forge_b',
    async whoAmI() {
      const user = json(await at.users.showCurrentUser())
      return {
        id: String(said(user.id)),
        login: said(user.username),
        name: user.name || null,
        email: user.email || null,
        avatar_url: user.avatar_url || null,
        company: user.organization || null,
      }
    },
    repository: (fullName) => reachable(at, fullName),
    repositories: (search) => repositories(at, host, search),
    branches: (name, search) => branches(at, name, search),
    installations: async () => {
      throw new ForgeError('not_offered', 'A forge of this kind has no installations.')
    },
    suggestedTasks: () => forgeBTasks(at),
    cloneUrl: (fullName) => cloneUrl(host, usualPlaces, fullName),
    credential: () => (token === null ? null : { username: 'oauth2', password: token }),
    comment: (comment) => addComment(at, host, comment),
    createPullRequest: (request) => addMergeRequest(at, request),
  }
}

const project = (fullName: string): string => inPath(fullName).join('/')

function reachable(at: ForgeBResources, fullName: string): Promise<Repository | null> {
  return nullWhenOutOfReach(async () => repositoryOf(json(await at.projects.show(project(fullName)))))
}

async function repositories(at: ForgeBResources, host: string, search: RepositorySearch): Promise<Listing<Repository>> {
  const { query, sort, cursor, limit } = search
  const address = query === null ? undefined : repositoryInAddress(host, query)
  if (address !== undefined) {
    const found = await reachable(at, address)
    return { items: found === null ? [] : [found], next: null }
  }
  const [by, direction] = (query === null ? 'updated-desc' : (sort ?? 'stars-desc')).split('-')
  if (by === 'forks') throw new ForgeError('not_offered', 'A forge of this kind does not sort by forks.')
  const which = query === null ? { membership: true } : { search: query }
  // The interface orders by stars too; the library's type has not heard of it.
  const orderBy = (by === 'stars' ? 'star_count' : 'last_activity_at') as 'last_activity_at'
  const asked = { ...which, orderBy, sort: direction as 'asc' | 'desc' }
  return walk({
    cursor,
    limit,
    key: (repository) => repository.id,
    read: numbered(async (page) => {
      const paging = { pagination: 'offset', page, perPage: PAGE, showExpanded: true } as const
      const { data, paginationInfo } = await at.projects.all<true, 'offset'>({ ...asked, ...paging })
      return { items: data.map(repositoryOf), more: paginationInfo.next !== null }
    }),
  })
}

function branches(at: ForgeBResources, repository: string, search: BranchSearch): Promise<Listing<Branch>> {
  const name = project(repository)
  return walk({
    cursor: search.cursor,
    limit: search.limit,
    key: (branch) => branch.name,
    keep: branchFilter(search.query),
    read: numbered(async (page) => {
      const paging = { pagination: 'offset', page, perPage: PAGE, showExpanded: true } as const
      const { data, paginationInfo } = await at.branches.all<true, 'offset'>(name, paging)
      const items = data.map((branch) => ({
        name: branch.name,
        commit_sha: said(branch.commit.id),
        protected: branch.protected,
        last_push_date: branch.commit.committed_date ?? null,
      }))
      return { items, more: paginationInfo.next !== null }
    }),
  })
}

async function addComment(at: ForgeBResources, host: string, comment: NewComment): Promise<{ url: string }> {
  const { repository, on, number, body, inReplyTo } = comment
  const name = project(repository)
  const place = `${host}/${name}/-/${on === 'issue' ? 'issues' : 'merge_requests'}/${number}`
  if (on === 'issue') return { url: noteAt(place, json(await at.issueNotes.create(name, number, body))) }
  if (inReplyTo === null) return { url: noteAt(place, json(await at.mergeRequestNotes.create(name, number, body))) }
  return { url: noteAt(place, json(await at.discussions.addNote(name, number, inReplyTo, body))) }
}

const noteAt = (place: string, note: { id: number }): string => `${place}#note_${said(note.id)}`

async function addMergeRequest(at: ForgeBResources, { repository, head, base, title, body }: NewPullRequest) {
  const made = json(await at.mergeRequests.create(project(repository), head, base, title, { description: body }))
  return { number: said(made.iid), url: String(said(made.web_url)) }
}

function repositoryOf(found: ProjectSchema): Repository {
  return {
    id: String(said(found.id)),
    full_name: said(found.path_with_namespace),
    git_provider: 'forge_b',
    is_public: found.visibility === 'public',
    stargazers_count: found.star_count ?? null,
    link_header: null,
    pushed_at: found.last_activity_at ?? null,
    owner_type: found.namespace?.kind === 'group' ? 'organization' : 'user',
    main_branch: found.default_branch || null,
  }
}
