import type { Branch, Repository } from '@parley/contract/git'
import { cloneUrl, type Places, repositoryInAddress } from './address.ts'
import { inPath, nullWhenOutOfReach, said } from './answers.ts'
import { devopsSuiteTasks, type FoundRepository, fullNameOf, inDevops } from './devops-suite-tasks.ts'
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
import { basic, rest, type Rest } from './rest.ts'

const PAGE = 100
/** Known to Azure DevOps Server 2020 and everything later. */
const VERSION = { 'api-version': '6.0' }

export const devopsPlaces: Places = {
  clone: (owner, name) => `/${owner}/_git/${name}`,
  paths: [/^\/(?<owner>[\w.-]+)\/_git\/(?<name>[\w.-]+?)(?:\.git)?(?:\/|$)/],
}

interface FoundRef {
  name: string
  objectId: string
}

interface Policy {
  isEnabled: boolean
  isDeleted?: boolean
  settings: { scope?: { refName?: string | null; matchKind?: string }[] }
}

interface Connection {
  authenticatedUser: { id: string; providerDisplayName?: string; properties?: { Account?: { $value?: string } } }
}

/**
 * Azure DevOps, its own or a company's. The address names the organisation (or the collection), the owner of a repository is its
 * project. A project or repository whose name does not fit into `owner/name`, such as one with a space, goes by its id, which
 * every address of the forge takes as well. Issues are work items, which belong to projects.
 */
export function devopsSuite(account: Account): Forge {
  const { host, token } = account
  const ask = rest(account, host, {
    // Else a wrong token is sent to a sign-in page.
    'x-tfs-fedauthredirect': 'Suppress',
    ...(token === null ? {} : { authorization: basic('', token) }),
  })
  return {
    kind: 'devops_suite',
    whoAmI: () => whoAmI(ask),
    repository: (fullName) => reachable(ask, fullName),
    repositories: (search) => repositories(ask, host, search),
    branches: (name, search) => branches(ask, name, search),
    installations: async () => [organisation(host)],
    suggestedTasks: async () => devopsSuiteTasks(ask, VERSION, (await whoAmI(ask)).id),
    cloneUrl: (fullName) => cloneUrl(host, devopsPlaces, fullName),
    credential: () => (token === null ? null : { username: 'pat', password: token }),
    comment: (comment) => addComment(ask, host, comment),
    createPullRequest: (wish) => addPullRequest(ask, host, wish),
  }
}

const organisation = (host: string): string => new URL(host).pathname.split('/').at(-1) ?? ''

async function whoAmI(ask: Rest): Promise<ForgeUser> {
  const { data } = await ask.get<Connection>(['_apis', 'connectionData'], { 'api-version': '6.0-preview' })
  const { id, providerDisplayName, properties } = said(data.authenticatedUser)
  const login = properties?.Account?.$value ?? said(providerDisplayName)
  const email = /^\S+@\S+$/.test(login) ? login : null
  return { id: said(id), login, name: providerDisplayName || null, email, avatar_url: null, company: null }
}

function reachable(ask: Rest, fullName: string): Promise<Repository | null> {
  return nullWhenOutOfReach(async () =>
    repositoryOf((await ask.get<FoundRepository>(inDevops(...inPath(fullName)), VERSION)).data),
  )
}

/** The interface gives the repositories of the whole organisation at once and cannot search them. */
async function repositories(ask: Rest, host: string, search: RepositorySearch): Promise<Listing<Repository>> {
  const { query, sort, installationId, cursor, limit } = search
  const address = query === null ? undefined : repositoryInAddress(host, query, devopsPlaces)
  if (address !== undefined) {
    const found = await reachable(ask, address)
    return { items: found === null ? [] : [found], next: null }
  }
  if (sort !== null) throw new ForgeError('not_offered', 'A forge of this kind does not sort repositories.')
  const elsewhere = query === null && installationId !== null && installationId !== organisation(host)
  if (elsewhere) return { items: [], next: null }
  const words = (query ?? '').toLowerCase()
  return walk({
    cursor,
    limit,
    key: (repository) => repository.id,
    keep: (repository) => repository.full_name.toLowerCase().includes(words),
    async read() {
      const { data } = await ask.get<{ value: FoundRepository[] }>(['_apis', 'git', 'repositories'], VERSION)
      const usable = said(data.value).filter((found) => found.isDisabled !== true)
      return { items: usable.map(repositoryOf), next: null }
    },
  })
}

async function branches(ask: Rest, repository: string, search: BranchSearch): Promise<Listing<Branch>> {
  const [project, name] = inPath(repository)
  const { data: found } = await ask.get<FoundRepository>(inDevops(project, name), VERSION)
  const isProtected = await protectedBy(() => protectedRefs(ask, project, said(found.id)))
  const read: ReadPage<Branch> = async (at) => {
    const from = at === null ? {} : { continuationToken: at }
    const asked = { ...VERSION, filter: 'heads/', $top: PAGE, ...from }
    const { data, headers } = await ask.get<{ value: FoundRef[] }>(inDevops(project, name, 'refs'), asked)
    const items = said(data.value).map((ref) => ({
      name: withoutHeads(said(ref.name)),
      commit_sha: said(ref.objectId),
      protected: isProtected(withoutHeads(ref.name)),
      last_push_date: null,
    }))
    return { items, next: headers.get('x-ms-continuationtoken') }
  }
  const { cursor, limit, query } = search
  return walk({ cursor, limit, key: (branch) => branch.name, keep: branchFilter(query), read })
}

const withoutHeads = (ref: string): string => ref.replace(/^refs\/heads\//, '')

/** A branch that a policy is about cannot be pushed to. */
async function protectedRefs(ask: Rest, project: string, repositoryId: string): Promise<string[]> {
  const { data } = await ask.get<{ value: Policy[] }>([project, '_apis', 'git', 'policy', 'configurations'], {
    repositoryId,
    'api-version': '6.0-preview',
  })
  const scopes = said(data.value)
    .filter((policy) => policy.isEnabled && policy.isDeleted !== true)
    .flatMap(({ settings }) => settings.scope ?? [])
  return scopes.flatMap(({ refName, matchKind }) => {
    if (refName === undefined || refName === null) return []
    return [`${withoutHeads(refName)}${matchKind?.toLowerCase() === 'prefix' ? '**' : ''}`]
  })
}

async function addComment(ask: Rest, host: string, { repository, on, number, body, inReplyTo }: NewComment) {
  const [project, name] = inPath(repository)
  if (on === 'issue') {
    const path = [project, '_apis', 'wit', 'workItems', String(number), 'comments']
    await ask.post(path, { text: body }, { format: 'markdown', 'api-version': '7.1-preview.4' })
    return { url: `${host}/${project}/_workitems/edit/${number}` }
  }
  const threads = inDevops(project, name, 'pullRequests', String(number), 'threads')
  const remark = { content: body, commentType: 1 }
  if (inReplyTo !== null)
    await ask.post([...threads, inReplyTo, 'comments'], { ...remark, parentCommentId: 1 }, VERSION)
  else await ask.post(threads, { comments: [{ ...remark, parentCommentId: 0 }], status: 1 }, VERSION)
  return { url: pullPage(host, project, name, number) }
}

async function addPullRequest(ask: Rest, host: string, { repository, head, base, title, body }: NewPullRequest) {
  const [project, name] = inPath(repository)
  const wish = { title, description: body, sourceRefName: `refs/heads/${head}`, targetRefName: `refs/heads/${base}` }
  const { data } = await ask.post<{ pullRequestId: number }>(inDevops(project, name, 'pullrequests'), wish, VERSION)
  const number = said(data.pullRequestId)
  return { number, url: pullPage(host, project, name, number) }
}

const pullPage = (host: string, project: string, name: string, number: number): string =>
  `${host}/${project}/_git/${name}/pullrequest/${number}`

function repositoryOf(found: FoundRepository): Repository {
  return {
    id: said(found.id),
    full_name: fullNameOf(found),
    git_provider: 'devops_suite',
    is_public: found.project.visibility === 'public',
    stargazers_count: null,
    link_header: null,
    pushed_at: null,
    owner_type: 'organization',
    main_branch: found.defaultBranch === undefined ? null : withoutHeads(found.defaultBranch),
  }
}
