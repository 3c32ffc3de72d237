import type { Branch, Repository } from '@parley/contract/git'
import { type Branch as GiteaBranch, type Repository as GiteaRepository, giteaApi, type Api } from 'gitea-js'
import { cloneUrl, repositoryInAddress, usualPlaces } from './address.ts'
import { inPath, json, nullWhenOutOfReach, said } from './answers.ts'
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
import { forgeFetch } from './http.ts'
import { openForgeTasks } from './open-forge-tasks.ts'
import { branchFilter, hasNext, numbered, walk } from './paging.ts'

/** The forge caps a page at 50 unless its operator changed that; a smaller cap only means more pages. */
const PAGE = 50

/** Gitea and Forgejo: one REST interface under `/api/v1`. */
export function openForge(account: Account): Forge {
  const { host, token } = account
  const api = giteaApi(host, { ...(token === null ? {} : { token }), customFetch: forgeFetch(account) })
  const repository = (fullName: string) => reachable(api, fullName)
  return {
    kind: 'open_forge',
    async whoAmI() {
      const user = json((await api.user.userGetCurrent()).data)
      return {
        id: String(said(user.id)),
        login: said(user.login),
        name: user.full_name || null,
        email: user.email || null,
        avatar_url: user.avatar_url || null,
        company: null,
      }
    },
    repository,
    repositories: (search) => repositories(api, host, search),
    branches: (name, search) => branches(api, name, search),
    installations: async () => {
      throw new ForgeError('not_offered', 'A forge of this kind has no installations.')
    },
    suggestedTasks: () => openForgeTasks(api),
    cloneUrl: (fullName) => cloneUrl(host, usualPlaces, fullName),
    credential: () => (token === null ? null : { username: 'oauth2', password: token }),
    comment: (comment) => addComment(api, comment),
    createPullRequest: (request) => addPullRequest(api, request),
  }
}

function reachable(api: Api<unknown>, fullName: string): Promise<Repository | null> {
  return nullWhenOutOfReach(async () => repositoryOf(json((await api.repos.repoGet(...inPath(fullName))).data)))
}

async function repositories(api: Api<unknown>, host: string, search: RepositorySearch): Promise<Listing<Repository>> {
  const { query, sort, cursor, limit } = search
  const address = query === null ? undefined : repositoryInAddress(host, query)
  if (address !== undefined) {
    const found = await reachable(api, address)
    return { items: found === null ? [] : [found], next: null }
  }
  const [by, order] = (query === null ? 'updated-desc' : (sort ?? 'stars-desc')).split('-') as [string, string]
  const which = query === null ? { uid: said(json((await api.user.userGetCurrent()).data).id) } : { q: query }
  return walk({
    cursor,
    limit,
    key: (repository) => repository.id,
    read: numbered(async (page) => {
      const answer = await api.repos.repoSearch({ ...which, sort: by, order, page, limit: PAGE })
      return { items: said(json(answer.data).data).map(repositoryOf), more: hasNext(answer.headers) }
    }),
  })
}

function branches(api: Api<unknown>, repository: string, search: BranchSearch): Promise<Listing<Branch>> {
  const [owner, name] = inPath(repository)
  return walk({
    cursor: search.cursor,
    limit: search.limit,
    key: (branch) => branch.name,
    keep: branchFilter(search.query),
    read: numbered(async (page) => {
      const answer = await api.repos.repoListBranches(owner, name, { page, limit: PAGE })
      return { items: json(answer.data).map(branchOf), more: hasNext(answer.headers) }
    }),
  })
}

/** This forge has no answers to a single review comment, so a reply goes to the end of the conversation. */
async function addComment(api: Api<unknown>, { repository, number, body }: NewComment): Promise<{ url: string }> {
  const [owner, name] = inPath(repository)
  const made = json((await api.repos.issueCreateComment(owner, name, number, { body })).data)
  return { url: said(made.html_url) }
}

async function addPullRequest(api: Api<unknown>, { repository, ...request }: NewPullRequest) {
  const [owner, name] = inPath(repository)
  const made = json((await api.repos.repoCreatePullRequest(owner, name, request)).data)
  return { number: said(made.number), url: said(made.html_url) }
}

function repositoryOf(repository: GiteaRepository): Repository {
  return {
    id: String(said(repository.id)),
    full_name: said(repository.full_name),
    git_provider: 'open_forge',
    link_header: null,
    is_public: repository.private !== true && repository.internal !== true,
    stargazers_count: repository.stars_count ?? null,
    pushed_at: repository.updated_at ?? null,
    owner_type: null,
    main_branch: repository.default_branch || null,
  }
}

function branchOf(branch: GiteaBranch): Branch {
  return {
    name: said(branch.name),
    commit_sha: said(branch.commit?.id),
    protected: branch.protected ?? false,
    last_push_date: branch.commit?.timestamp ?? null,
  }
}
