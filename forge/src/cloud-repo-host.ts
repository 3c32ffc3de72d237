import type { Branch, Repository } from '@parley/contract/git'
import { cloneUrl, repositoryInAddress, usualPlaces } from './address.ts'
import { inPath, nullWhenOutOfReach, said } from './answers.ts'
import { cloudRepoHostTasks, type Values } from './cloud-repo-host-tasks.ts'
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
import { branchFilter, merge, numbered, walk } from './paging.ts'
import { protectedBy } from './protected.ts'
import { authorization, halves, rest, type Rest } from './rest.ts'

/** Of a page; the most that the interface gives. */
const PAGE = 100
/** Workspaces whose repositories are shown as one list. */
const MOST_WORKSPACES = 50

interface FoundRepository {
  uuid: string
  full_name: string
  is_private: boolean
  updated_on?: string
  mainbranch?: { name: string } | null
  owner?: { type: string }
}

interface FoundBranch {
  name: string
  target: { hash: string; date?: string }
}

interface FoundUser {
  uuid: string
  username?: string
  nickname?: string
  display_name?: string
  links?: { avatar?: { href: string } }
}

interface Restriction {
  branch_match_kind?: string
  pattern?: string
}

/**
 * Bitbucket Cloud: REST interface 2.0, at `api.` there. Its repositories are in workspaces and are listed by workspace; it
 * counts neither stars nor forks, and an issue's number is a pull request's, as it keeps no issues of its own any more.
 */
export function cloudRepoHost(account: Account): Forge {
  const { host } = account
  const ask = cloudRest(account)
  return {
    kind: 'cloud_repo_host',
    whoAmI: () => whoAmI(ask),
    repository: (fullName) => reachable(ask, fullName),
    repositories: (search) => repositories(ask, host, search),
    branches: (name, search) => branches(ask, name, search),
    installations: () => workspaces(ask),
    suggestedTasks: async () => cloudRepoHostTasks(ask, (await whoAmI(ask)).id, await workspaces(ask)),
    cloneUrl: (fullName) => cloneUrl(host, usualPlaces, fullName),
    credential: () => credential(account.token),
    comment: (comment) => addComment(ask, comment),
    createPullRequest: (wish) => addPullRequest(ask, wish),
  }
}

/** A token with a colon is a name and a password; any other is an access token of its own. */
function cloudRest(account: Account): Rest {
  const { host, token } = account
  const base = new URL(host).hostname === 'bitbucket.org' ? 'https://api.bitbucket.org/2.0' : `${host}/2.0`
  return rest(account, base, authorization(token))
}

/** Git wants other names than the interface does: a fixed one for access tokens and one for API tokens, which come with an e-mail. */
function credential(token: string | null): ReturnType<Forge['credential']> {
  if (token === null) return null
  const { username, password } = halves(token)
  if (username === null) return { username: 'x-token-auth', password }
  return { username: username.includes('@') ? 'x-bitbucket-api-token-auth' : username, password }
}

async function whoAmI(ask: Rest): Promise<ForgeUser> {
  const { data: user } = await ask.get<FoundUser>(['user'])
  return {
    id: said(user.uuid),
    login: said(user.username ?? user.nickname),
    name: user.display_name || null,
    email: null,
    avatar_url: user.links?.avatar?.href ?? null,
    company: null,
  }
}

async function workspaces(ask: Rest): Promise<string[]> {
  const { items } = await walk({
    cursor: null,
    limit: MOST_WORKSPACES,
    key: (slug: string) => slug,
    read: numbered(async (page) => {
      const { data } = await ask.get<Values<{ workspace: { slug: string } }>>(['user', 'workspaces'], paging(page))
      return { items: said(data.values).map(({ workspace }) => said(workspace.slug)), more: data.next !== undefined }
    }),
  })
  return items
}

const paging = (page: number) => ({ page, pagelen: PAGE })

function reachable(ask: Rest, fullName: string): Promise<Repository | null> {
  return nullWhenOutOfReach(async () =>
    repositoryOf((await ask.get<FoundRepository>(['repositories', ...inPath(fullName)])).data),
  )
}

/**
 * The whole host cannot be searched: a search goes over the account's workspaces, and one for `workspace/name` over that
 * workspace alone.
 */
async function repositories(ask: Rest, host: string, search: RepositorySearch): Promise<Listing<Repository>> {
  const { query, sort, cursor, limit } = search
  const address = query === null ? undefined : repositoryInAddress(host, query)
  if (address !== undefined) {
    const found = await reachable(ask, address)
    return { items: found === null ? [] : [found], next: null }
  }
  if (sort !== null && !sort.startsWith('updated')) {
    throw new ForgeError('not_offered', 'A forge of this kind sorts by its latest change only.')
  }
  const [, workspace, words = query] = /^([\w.-]+)\/([\w.-]*)$/.exec(query ?? '') ?? []
  const only = workspace ?? (query === null ? search.installationId : null)
  const names = only === null ? await workspaces(ask) : [only]
  const wanted = words === null ? { role: 'member' } : { q: `name ~ ${quoted(words)}` }
  const rising = sort === 'updated-asc'
  const read = (name: string) =>
    numbered(async (page) => {
      const asked = { ...wanted, sort: rising ? 'updated_on' : '-updated_on', ...paging(page) }
      const { data } = await ask.get<Values<FoundRepository>>(['repositories', name], asked)
      return { items: said(data.values).map(repositoryOf), more: data.next !== undefined }
    })
  const time = ({ pushed_at }: Repository) => (pushed_at === null ? 0 : Date.parse(pushed_at))
  return merge({
    cursor,
    limit,
    key: (repository) => repository.id,
    sources: Object.fromEntries(names.map((name) => [name, read(name)])),
    compare: (a, b) => (rising ? time(a) - time(b) : time(b) - time(a)),
  })
}

/** A text in the interface's language of queries. */
const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`

async function branches(ask: Rest, repository: string, search: BranchSearch): Promise<Listing<Branch>> {
  const at = ['repositories', ...inPath(repository)]
  const isProtected = await protectedBy(async () => {
    const { data } = await ask.get<Values<Restriction>>([...at, 'branch-restrictions'], paging(1))
    return said(data.values).flatMap(({ branch_match_kind, pattern }) =>
      branch_match_kind === 'glob' && pattern !== undefined ? [pattern] : [],
    )
  })
  return walk({
    cursor: search.cursor,
    limit: search.limit,
    key: (branch) => branch.name,
    keep: branchFilter(search.query),
    read: numbered(async (page) => {
      const { data } = await ask.get<Values<FoundBranch>>([...at, 'refs', 'branches'], paging(page))
      const items = said(data.values).map(({ name, target }) => ({
        name: said(name),
        commit_sha: said(target.hash),
        protected: isProtected(name),
        last_push_date: target.date ?? null,
      }))
      return { items, more: data.next !== undefined }
    }),
  })
}

async function addComment(ask: Rest, { repository, number, body, inReplyTo }: NewComment): Promise<{ url: string }> {
  const at = ['repositories', ...inPath(repository), 'pullrequests', String(number), 'comments']
  const parent = inReplyTo === null ? {} : { parent: { id: Number(inReplyTo) } }
  const { data } = await ask.post<{ links: Link }>(at, { content: { raw: body }, ...parent })
  return { url: said(said(data.links).html.href) }
}

interface Link {
  html: { href: string }
}

async function addPullRequest(ask: Rest, { repository, head, base, title, body }: NewPullRequest) {
  const { data } = await ask.post<{ id: number; links: Link }>(
    ['repositories', ...inPath(repository), 'pullrequests'],
    { title, description: body, source: { branch: { name: head } }, destination: { branch: { name: base } } },
  )
  return { number: said(data.id), url: said(said(data.links).html.href) }
}

function repositoryOf(found: FoundRepository): Repository {
  return {
    id: said(found.uuid),
    full_name: said(found.full_name),
    git_provider: 'cloud_repo_host',
    is_public: !found.is_private,
    stargazers_count: null,
    link_header: null,
    pushed_at: found.updated_on ?? null,
    owner_type: found.owner?.type === 'user' ? 'user' : 'organization',
    main_branch: found.mainbranch?.name ?? null,
  }
}
