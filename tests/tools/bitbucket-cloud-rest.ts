import { dialect, ok, pageOf, type RestAnswer, type RestCall, type RouteTable } from './forge-dialect.ts'
import { everywhere, type PullSetup, readable, repositoryId, sorted, userId, writable } from './forge-world.ts'

const routes: RouteTable = [
  ['GET', /^\/user$/, (call) => signedIn(call, (login) => ok(user(call, login)))],
  ['GET', /^\/user\/workspaces$/, workspaces],
  ['GET', /^\/workspaces\/([^/]+)\/pullrequests\/([^/]+)$/, pullsOf],
  ['GET', /^\/repositories\/([^/]+)$/, repositories],
  ['GET', /^\/repositories\/([^/]+\/[^/]+)$/, (call, name = '') => ok(repository(call, name))],
  ['GET', /^\/repositories\/([^/]+\/[^/]+)\/refs\/branches$/, branches],
  ['GET', /^\/repositories\/([^/]+\/[^/]+)\/branch-restrictions$/, restrictions],
  ['GET', /^\/repositories\/([^/]+\/[^/]+)\/diffstat\/source-(\d+)\.\.target$/, diffstat],
  ['GET', /^\/repositories\/([^/]+\/[^/]+)\/pullrequests\/(\d+)$/, pull],
  ['GET', /^\/repositories\/([^/]+\/[^/]+)\/pullrequests\/(\d+)\/statuses$/, statuses],
  ['GET', /^\/repositories\/([^/]+\/[^/]+)\/pullrequests\/(\d+)\/comments$/, comments],
  ['POST', /^\/repositories\/([^/]+\/[^/]+)\/pullrequests\/(\d+)\/comments$/, comment],
  ['POST', /^\/repositories\/([^/]+\/[^/]+)\/pullrequests$/, openPull],
]

const refusal = (status: number, message: string): RestAnswer => ({
  status,
  body: { type: 'error', error: { message } },
})
const absent = () => refusal(404, 'Repository not found.')

/** Bitbucket Cloud as its REST interface 2.0 answers; it is told by workspace since the listings over all of them are gone. */
export const bitbucketCloudRest = dialect('/2.0', routes, absent)

const signedIn = (call: RestCall, route: (login: string) => RestAnswer): RestAnswer =>
  call.login === null
    ? refusal(401, 'Token is invalid, expired, or not supported for this endpoint.')
    : route(call.login)

function paged(call: RestCall, all: unknown[]): RestAnswer {
  const { items, total, page, limit, last } = pageOf(call, all, { size: 'pagelen', usual: 10, cap: 100 })
  const next = page < last ? { next: `${call.url}/2.0${call.path}?pagelen=${limit}&page=${page + 1}` } : {}
  return ok({ values: items, pagelen: limit, page, size: total, ...next })
}

const uuid = (number: number): string => `{00000000-0000-4000-8000-${String(number).padStart(12, '0')}}`

function user({ world, url }: RestCall, login: string) {
  return {
    type: 'user',
    uuid: uuid(userId(world, login)),
    username: login,
    nickname: login,
    display_name: login,
    account_id: `1:${login}`,
    links: { avatar: { href: `${url}/account/${login}/avatar/` } },
  }
}

function workspaces(call: RestCall): RestAnswer {
  return signedIn(call, (login) => {
    const slugs = new Set(writable(call.world, login).map((name) => name.split('/')[0]))
    return paged(
      call,
      [...slugs].map((slug) => ({ type: 'workspace_access', administrator: false, workspace: { slug } })),
    )
  })
}

function repository(call: RestCall, name: string) {
  const hosted = call.world.repositories[name] ?? {}
  return {
    type: 'repository',
    uuid: uuid(repositoryId(call.world, name)),
    full_name: name,
    slug: name.split('/')[1],
    is_private: hosted.private !== false,
    updated_on: hosted.pushedAt ?? '2024-01-01T00:00:00.000000+00:00',
    mainbranch: { type: 'branch', name: 'main' },
    owner: { type: 'team' },
    workspace: { slug: name.split('/')[0] },
  }
}

function repositories(call: RestCall, workspace = ''): RestAnswer {
  const { query, world, login } = call
  const mine = query.get('role') === 'member'
  if (mine && login === null) return refusal(401, 'Access denied.')
  const words = /^name ~ "(.*)"$/.exec(query.get('q') ?? '')?.[1]?.toLowerCase() ?? ''
  const visible = mine && login !== null ? writable(world, login) : readable(world, login)
  const named = visible.filter((name) => {
    const [owner, slug = ''] = name.split('/')
    return owner === workspace && slug.includes(words)
  })
  const sort = query.get('sort')
  const names = sorted(world, named, sort === null ? null : 'updated', sort?.startsWith('-') === true ? 'desc' : 'asc')
  return paged(
    call,
    names.map((name) => repository(call, name)),
  )
}

async function branches(call: RestCall, name = ''): Promise<RestAnswer> {
  const all = await call.branchesOf(name)
  return paged(
    call,
    all.map((branch) => ({
      type: 'branch',
      name: branch.name,
      target: { type: 'commit', hash: branch.sha, date: branch.date },
    })),
  )
}

function restrictions(call: RestCall, name = ''): RestAnswer {
  const patterns = call.world.repositories[name]?.protectedBranches ?? []
  return paged(
    call,
    patterns.map((pattern, id) => ({ id, kind: 'push', branch_match_kind: 'glob', pattern })),
  )
}

const pullAt = (call: RestCall, name: string, number: string): PullSetup | undefined =>
  call.world.repositories[name]?.pulls?.find((one) => one.number === Number(number))

function told(call: RestCall, name: string, found: PullSetup) {
  return {
    type: 'pullrequest',
    id: found.number,
    title: found.title,
    state: 'OPEN',
    author: user(call, found.author),
    source: { branch: { name: 'work' }, commit: { hash: `source-${found.number}` } },
    destination: { branch: { name: 'main' }, commit: { hash: 'target' }, repository: { full_name: name } },
    comment_count: (found.reviewers ?? []).length,
    task_count: 0,
    links: { html: { href: `${call.url}/${name}/pull-requests/${found.number}` } },
  }
}

function pullsOf(call: RestCall, workspace = '', author = ''): RestAnswer {
  const mine = everywhere(call.world, 'pulls').filter(
    (found) => found.repository.startsWith(`${workspace}/`) && uuid(userId(call.world, found.author)) === author,
  )
  return paged(
    call,
    mine.map((found) => told(call, found.repository, found)),
  )
}

function pull(call: RestCall, name = '', number = ''): RestAnswer {
  const found = pullAt(call, name, number)
  return found === undefined ? absent() : ok({ ...told(call, name, found), participants: [] })
}

function diffstat(call: RestCall, name = '', number = ''): RestAnswer {
  const status = pullAt(call, name, number)?.mergeable === false ? 'merge conflict' : 'modified'
  return paged(call, [{ type: 'diffstat', status, lines_added: 1, lines_removed: 1 }])
}

function statuses(call: RestCall, name = '', number = ''): RestAnswer {
  const { checks } = pullAt(call, name, number) ?? {}
  const state = { success: 'SUCCESSFUL', failure: 'FAILED', pending: 'INPROGRESS' }[checks ?? 'success']
  return paged(call, checks === undefined ? [] : [{ type: 'build', key: 'build', state }])
}

function comments(call: RestCall, name = '', number = ''): RestAnswer {
  const reviewers = pullAt(call, name, number)?.reviewers ?? []
  return paged(
    call,
    reviewers.map((login, id) => ({
      type: 'pullrequest_comment',
      id,
      user: user(call, login),
      deleted: false,
      inline: { path: 'README.md', to: 1 },
      content: { raw: 'Why?' },
    })),
  )
}

function comment(call: RestCall, name = '', number = ''): RestAnswer {
  return signedIn(call, (author) => {
    const { content, parent } = call.body as { content: { raw: string }; parent?: { id: number } }
    const inReplyTo = parent === undefined ? null : String(parent.id)
    call.world.comments.push({ repository: name, number: Number(number), author, body: content.raw, inReplyTo })
    const id = call.world.comments.length
    const html = { href: `${call.url}/${name}/pull-requests/${number}/_/diff#comment-${id}` }
    return {
      status: 201,
      body: { type: 'pullrequest_comment', id, content, user: user(call, author), links: { html } },
    }
  })
}

function openPull(call: RestCall, name = ''): RestAnswer {
  return signedIn(call, (author) => {
    type Wish = { title: string; source: { branch: { name: string } }; destination: { branch: { name: string } } }
    const { title, source, destination } = call.body as unknown as Wish
    const number = call.world.pulls.length + 1000
    const [head, base] = [source.branch.name, destination.branch.name]
    call.world.pulls.push({ repository: name, number, author, head, base, title })
    const html = { href: `${call.url}/${name}/pull-requests/${number}` }
    return { status: 201, body: { type: 'pullrequest', id: number, title, links: { html } } }
  })
}
