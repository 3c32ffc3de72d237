import type { Endpoints } from '@octokit/types'
import type { Branch, Repository } from '@parley/contract/git'
import { cloneUrl, repositoryInAddress, usualPlaces } from './address.ts'
import { inPath, json, nullWhenOutOfReach, said } from './answers.ts'
import { type ForgeARequest, forgeARequest } from './forge-a-request.ts'
import { forgeATasks } from './forge-a-tasks.ts'
import type { Account, BranchSearch, Forge, Listing, NewComment, NewPullRequest, RepositorySearch } from './forge.ts'
import { branchFilter, hasNext, numbered, walk } from './paging.ts'

const PAGE = 100

type FoundRepository =
  | Endpoints['GET /repos/{owner}/{repo}']['response']['data']
  | Endpoints['GET /user/repos']['response']['data'][number]
  | Endpoints['GET /search/repositories']['response']['data']['items'][number]

/** GitHub, its own or an enterprise's: one REST interface, below `api.` there and below `/api/v3` here. */
export function forgeA(account: Account): Forge {
  const { host, token } = account
  const ask = forgeARequest(account)
  return {
    kind: 'forge_a',
    async whoAmI() {
      const user = json((await ask('GET /user')).data)
      return {
        id: String(said(user.id)),
        login: said(user.login),
        name: user.name ?? null,
        email: user.email ?? null,
        avatar_url: user.avatar_url ?? null,
        company: user.company ?? null,
      }
    },
    repository: (fullName) => reachable(ask, fullName),
    repositories: (search) => repositories(ask, host, search),
    branches: (name, search) => branches(ask, name, search),
    async installations() {
      const { data } = await ask('GET /user/installations', { per_page: PAGE })
      return said(json(data).installations).map(({ id }) => String(id))
    },
    suggestedTasks: () => forgeATasks(ask),
    cloneUrl: (fullName) => cloneUrl(host, usualPlaces, fullName),
    credential: () => (token === null ? null : { username: 'x-access-token', password: token }),
    comment: (comment) => addComment(ask, comment),
    createPullRequest: (wish) => addPullRequest(ask, wish),
  }
}

function reachable(ask: ForgeARequest, fullName: string): Promise<Repository | null> {
  return nullWhenOutOfReach(async () => {
    const [owner, repo] = inPath(fullName)
    return repositoryOf(json((await ask('GET /repos/{owner}/{repo}', { owner, repo })).data))
  })
}

async function repositories(ask: ForgeARequest, host: string, search: RepositorySearch): Promise<Listing<Repository>> {
  const { query, cursor, limit } = search
  const address = query === null ? undefined : repositoryInAddress(host, query)
  if (address !== undefined) {
    const found = await reachable(ask, address)
    return { items: found === null ? [] : [found], next: null }
  }
  return walk({
    cursor,
    limit,
    key: (repository) => repository.id,
    read: numbered(async (page) => {
      const { found, headers } = await repositoryPage(ask, search, page)
      return { items: said(found).map(repositoryOf), more: hasNext(new Headers({ link: headers.link ?? '' })) }
    }),
  })
}

async function repositoryPage(ask: ForgeARequest, { query, sort, installationId }: RepositorySearch, page: number) {
  const paging = { per_page: PAGE, page }
  if (query !== null) {
    const [by, order] = (sort ?? 'stars-desc').split('-') as ['stars' | 'forks' | 'updated', 'asc' | 'desc']
    const { data, headers } = await ask('GET /search/repositories', {
      q: `${query} in:name`,
      sort: by,
      order,
      ...paging,
    })
    return { found: json(data).items, headers }
  }
  if (installationId !== null) {
    const installation_id = Number(installationId)
    const of = { installation_id, ...paging }
    const { data, headers } = await ask('GET /user/installations/{installation_id}/repositories', of)
    return { found: json(data).repositories, headers }
  }
  const { data, headers } = await ask('GET /user/repos', { sort: 'pushed', direction: 'desc', ...paging })
  return { found: json(data), headers }
}

function branches(ask: ForgeARequest, repository: string, search: BranchSearch): Promise<Listing<Branch>> {
  const [owner, repo] = inPath(repository)
  return walk({
    cursor: search.cursor,
    limit: search.limit,
    key: (branch) => branch.name,
    keep: branchFilter(search.query),
    read: numbered(async (page) => {
      const { data, headers } = await ask('GET /repos/{owner}/{repo}/branches', { owner, repo, per_page: PAGE, page })
      const items = json(data).map((branch) => ({
        name: branch.name,
        commit_sha: said(branch.commit.sha),
        protected: branch.protected,
        last_push_date: null,
      }))
      return { items, more: hasNext(new Headers({ link: headers.link ?? '' })) }
    }),
  })
}

async function addComment(ask: ForgeARequest, { repository, number, body, inReplyTo }: NewComment) {
  const [owner, repo] = inPath(repository)
  if (inReplyTo === null) {
    const remark = { owner, repo, issue_number: number, body }
    const made = await ask('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', remark)
    return { url: said(json(made.data).html_url) }
  }
  const reply = { owner, repo, pull_number: number, comment_id: Number(inReplyTo), body }
  const made = await ask('POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies', reply)
  return { url: said(json(made.data).html_url) }
}

async function addPullRequest(ask: ForgeARequest, { repository, ...wish }: NewPullRequest) {
  const [owner, repo] = inPath(repository)
  const made = json((await ask('POST /repos/{owner}/{repo}/pulls', { owner, repo, ...wish })).data)
  return { number: said(made.number), url: said(made.html_url) }
}

function repositoryOf(repository: FoundRepository): Repository {
  return {
    id: String(said(repository.id)),
    full_name: said(repository.full_name),
    git_provider: 'forge_a',
    link_header: null,
    is_public: !repository.private,
    stargazers_count: repository.stargazers_count ?? null,
    pushed_at: repository.pushed_at ?? null,
    owner_type: repository.owner?.type === 'Organization' ? 'organization' : 'user',
    main_branch: repository.default_branch ?? null,
  }
}
