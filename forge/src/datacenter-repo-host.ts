import type { Branch, Repository } from '@parley/contract/git'
import { cloneUrl, type Places, repositoryInAddress } from './address.ts'
import { inPath, nullWhenOutOfReach, said } from './answers.ts'
import {
  datacenterRepoHostTasks,
  type FoundRepository,
  fullNameOf,
  inDatacenter,
} from './datacenter-repo-host-tasks.ts'
import {
  type Account,
  type BranchSearch,
  type Forge,
  ForgeError,
  type ForgeUser,
  type Listing,
  type NewComment,
  type NewPullRequest,
  type RepositorySearch,
} from './forge.ts'
import { branchFilter, type ReadPage, walk } from './paging.ts'
import { protectedBy } from './protected.ts'
import { authorization, halves, rest, type Rest } from './rest.ts'

const PAGE = 100
const MOST_PROJECTS = 1000

/** Git's own address, a page of a project's repository and a page of a person's. */
export const datacenterPlaces: Places = {
  clone: (owner, name) => `/scm/${owner}/${name}.git`,
  paths: [
    /^\/scm\/(?<owner>~?[\w.-]+)\/(?<name>[\w.-]+?)(?:\.git)?(?:\/|$)/,
    /^\/projects\/(?<owner>~?[\w.-]+)\/repos\/(?<name>[\w.-]+)(?:\/|$)/,
    /^\/users\/(?<user>[\w.-]+)\/repos\/(?<name>[\w.-]+)(?:\/|$)/,
  ],
}

/** What every listing of the interface looks like. */
interface Values<T> {
  values: T[]
  isLastPage: boolean
  nextPageStart?: number | null
}

interface FoundUser {
  id: number
  name: string
  displayName?: string
  emailAddress?: string
}

interface FoundBranch {
  id: string
  displayId: string
  latestCommit: string
}

interface Restriction {
  matcher: { id: string; displayId: string; type: { id: string } }
}

/**
 * Bitbucket Data Center, formerly Server: REST interface 1.0 below `/rest`. It tells neither stars nor the time of a push, and
 * it has no issues, so an issue's number is a pull request's.
 */
export function datacenterRepoHost(account: Account): Forge {
  const { host, token } = account
  const ask = datacenterRest(account)
  return {
    kind: 'datacenter_repo_host',
    whoAmI: () => whoAmI(ask),
    repository: (fullName) => reachable(ask, fullName),
    repositories: (search) => repositories(ask, host, search),
    branches: (name, search) => branches(ask, name, search),
    installations: () => projects(ask),
    suggestedTasks: () => datacenterRepoHostTasks(ask),
    cloneUrl: (fullName) => cloneUrl(host, datacenterPlaces, fullName),
    credential: () => (token === null ? null : halves(token)),
    comment: (comment) => addComment(ask, host, comment),
    createPullRequest: (wish) => addPullRequest(ask, wish),
  }
}

/** An access token is a bearer token for git as for the interface; one with a colon is a name and a password. */
function datacenterRest(account: Account): Rest {
  return rest(account, `${account.host}/rest`, authorization(account.token))
}

const api = (...path: string[]): string[] => ['api', '1.0', ...path]

/** No endpoint says who is asking, but a header of every answer does. */
async function whoAmI(ask: Rest): Promise<ForgeUser> {
  const { headers } = await ask.get(api('profile', 'recent', 'repos'), { limit: 1 })
  const login = decodeURIComponent(said(headers.get('x-ausername')))
  const { data } = await ask.get<Values<FoundUser>>(api('users'), { filter: login, limit: PAGE })
  const user = said(data.values).find(({ name }) => name === login)
  return {
    id: String(user?.id ?? login),
    login,
    name: user?.displayName || null,
    email: user?.emailAddress || null,
    avatar_url: null,
    company: null,
  }
}

/** A listing whose pages begin at an offset that the page before tells. */
const startingAt =
  <F, T>(ask: Rest, path: string[], query: Record<string, string>, made: (found: F) => T): ReadPage<T> =>
  async (at) => {
    const { data } = await ask.get<Values<F>>(path, { ...query, start: at ?? 0, limit: PAGE })
    const next = data.isLastPage ? null : String(said(data.nextPageStart))
    return { items: said(data.values).map(made), next }
  }

async function projects(ask: Rest): Promise<string[]> {
  const read = startingAt<{ key: string }, string>(ask, api('projects'), {}, ({ key }) => said(key))
  return (await walk({ cursor: null, limit: MOST_PROJECTS, key: (one) => one, read })).items
}

function reachable(ask: Rest, fullName: string): Promise<Repository | null> {
  return nullWhenOutOfReach(async () => {
    const at = inDatacenter(...inPath(fullName))
    const { data } = await ask.get<FoundRepository>(at)
    return repositoryOf(data, await mainBranch(ask, at))
  })
}

/** Null where the repository is empty or the forge too old to say. */
async function mainBranch(ask: Rest, at: string[]): Promise<string | null> {
  try {
    return said((await ask.get<FoundBranch>([...at, 'default-branch'])).data.displayId)
  } catch (error) {
    if (error instanceof ForgeError && error.failure !== 'timed_out') return null
    throw error
  }
}

async function repositories(ask: Rest, host: string, search: RepositorySearch): Promise<Listing<Repository>> {
  const { query, sort, installationId, cursor, limit } = search
  const address = query === null ? undefined : repositoryInAddress(host, query, datacenterPlaces)
  if (address !== undefined) {
    const found = await reachable(ask, address)
    return { items: found === null ? [] : [found], next: null }
  }
  if (sort !== null) throw new ForgeError('not_offered', 'A forge of this kind does not sort repositories.')
  const read = (path: string[], asked: Record<string, string>) =>
    startingAt<FoundRepository, Repository>(ask, path, asked, (found) => repositoryOf(found, null))
  const [, project, words = query] = /^(~?[\w.-]+)\/([\w.-]*)$/.exec(query ?? '') ?? []
  const only = project ?? (query === null ? installationId : null)
  const inProject = only === null ? {} : { projectkey: only }
  const wanted = words === null ? { permission: 'REPO_WRITE' } : { name: words }
  const key = (repository: Repository) => repository.id
  return walk({ cursor, limit, key, read: read(api('repos'), { ...wanted, ...inProject }) })
}

async function branches(ask: Rest, repository: string, search: BranchSearch): Promise<Listing<Branch>> {
  const at = inPath(repository)
  const isProtected = await protectedBy(async () => {
    const rules = ['branch-permissions', '2.0', 'projects', at[0], 'repos', at[1], 'restrictions']
    const { data } = await ask.get<Values<Restriction>>(rules, { limit: PAGE })
    return said(data.values).flatMap(({ matcher }) =>
      ['BRANCH', 'PATTERN'].includes(matcher.type.id) ? [matcher.displayId] : [],
    )
  })
  return walk({
    cursor: search.cursor,
    limit: search.limit,
    key: (branch) => branch.name,
    keep: branchFilter(search.query),
    read: startingAt<FoundBranch, Branch>(
      ask,
      inDatacenter(...at, 'branches'),
      { orderBy: 'MODIFICATION' },
      (found) => ({
        name: said(found.displayId),
        commit_sha: said(found.latestCommit),
        protected: isProtected(found.displayId),
        last_push_date: null,
      }),
    ),
  })
}

async function addComment(ask: Rest, host: string, { repository, number, body, inReplyTo }: NewComment) {
  const at = inPath(repository)
  const parent = inReplyTo === null ? {} : { parent: { id: Number(inReplyTo) } }
  const path = inDatacenter(...at, 'pull-requests', String(number), 'comments')
  const { data } = await ask.post<{ id: number }>(path, { text: body, ...parent })
  const page = `${host}/projects/${at[0]}/repos/${at[1]}/pull-requests/${number}/overview`
  return { url: `${page}?commentId=${said(data.id)}` }
}

async function addPullRequest(ask: Rest, { repository, head, base, title, body }: NewPullRequest) {
  const [key, slug] = inPath(repository)
  const ref = (branch: string) => ({ id: `refs/heads/${branch}`, repository: { slug, project: { key } } })
  const wish = { title, description: body, fromRef: ref(head), toRef: ref(base) }
  const { data } = await ask.post<{ id: number; links: { self: { href: string }[] } }>(
    inDatacenter(key, slug, 'pull-requests'),
    wish,
  )
  return { number: said(data.id), url: said(said(data.links).self[0]).href }
}

function repositoryOf(found: FoundRepository, main_branch: string | null): Repository {
  return {
    id: String(said(found.id)),
    full_name: fullNameOf(found),
    git_provider: 'datacenter_repo_host',
    is_public: found.public === true || found.project.public === true,
    stargazers_count: null,
    link_header: null,
    pushed_at: null,
    owner_type: found.project.type === 'PERSONAL' ? 'user' : 'organization',
    main_branch,
  }
}
