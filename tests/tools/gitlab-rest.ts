import { dialect, ok, pageOf, type RestAnswer, type RestCall, type RouteTable } from './forge-dialect.ts'
import { everywhere, type PullSetup, readable, repositoryId, sorted, userId, writable } from './forge-world.ts'

const routes: RouteTable = [
  ['GET', /^\/user$/, (call) => signedIn(call, (login) => ok(user(call, login)))],
  ['GET', /^\/projects$/, projects],
  ['GET', /^\/merge_requests$/, mergeRequests],
  ['GET', /^\/issues$/, issues],
  ['GET', /^\/projects\/([^/]+)$/, (call, name = '') => ok(project(call, name))],
  ['GET', /^\/projects\/([^/]+)\/repository\/branches$/, branches],
  ['GET', /^\/projects\/([^/]+)\/merge_requests\/(\d+)$/, mergeRequest],
  ['POST', /^\/projects\/([^/]+)\/(?:issues|merge_requests)\/(\d+)\/notes$/, note],
  ['POST', /^\/projects\/([^/]+)\/merge_requests\/(\d+)\/discussions\/([^/]+)\/notes$/, note],
  ['POST', /^\/projects\/([^/]+)\/merge_requests$/, openMergeRequest],
]

/** GitLab as its REST interface 4 answers. */
export const gitlabRest = dialect('/api/v4', routes, absent)

function absent(): RestAnswer {
  return { status: 404, body: { message: '404 Project Not Found' } }
}

function signedIn(call: RestCall, route: (login: string) => RestAnswer): RestAnswer {
  return call.login === null ? { status: 401, body: { message: '401 Unauthorized' } } : route(call.login)
}

function paged(call: RestCall, all: unknown[]): RestAnswer {
  const { items, headers, total, page, limit, last } = pageOf(call, all, { size: 'per_page', usual: 20, cap: 100 })
  return ok(items, {
    ...headers,
    'x-page': String(page),
    'x-per-page': String(limit),
    'x-next-page': page < last ? String(page + 1) : '',
    'x-prev-page': page > 1 ? String(page - 1) : '',
    'x-total': String(total),
    'x-total-pages': String(last),
  })
}

function user({ world, url }: RestCall, username: string) {
  const id = userId(world, username)
  return {
    id,
    username,
    name: username,
    state: 'active',
    web_url: `${url}/${username}`,
    email: `${username}@example.test`,
  }
}

function project(call: RestCall, name: string) {
  const hosted = call.world.repositories[name] ?? {}
  const [owner = '', path = ''] = name.split('/')
  return {
    id: repositoryId(call.world, name),
    path,
    path_with_namespace: name,
    default_branch: 'main',
    visibility: hosted.private === false ? 'public' : 'private',
    star_count: hosted.stars ?? 0,
    forks_count: hosted.forks ?? 0,
    last_activity_at: hosted.pushedAt ?? '2024-01-01T00:00:00Z',
    namespace: { id: 1, path: owner, kind: owner === 'acme' ? 'group' : 'user', full_path: owner },
    web_url: `${call.url}/${name}`,
    http_url_to_repo: `${call.url}/${name}.git`,
  }
}

const orders: Record<string, string> = { star_count: 'stars', last_activity_at: 'updated' }

function projects(call: RestCall): RestAnswer {
  const { query, world, login } = call
  const mine = query.get('membership') === 'true'
  if (mine && login === null) return { status: 401, body: { message: '401 Unauthorized' } }
  const words = (query.get('search') ?? '').toLowerCase()
  const visible = mine && login !== null ? writable(world, login) : readable(world, login)
  const named = visible.filter((name) => (name.split('/')[1] ?? '').includes(words))
  const names = sorted(world, named, orders[query.get('order_by') ?? ''] ?? null, query.get('sort') ?? 'desc')
  return paged(
    call,
    names.map((name) => project(call, name)),
  )
}

async function branches(call: RestCall, name = ''): Promise<RestAnswer> {
  const protectedOnes = call.world.repositories[name]?.protectedBranches ?? []
  const all = await call.branchesOf(name)
  return paged(
    call,
    all.map((branch) => ({
      name: branch.name,
      default: branch.name === 'main',
      protected: protectedOnes.includes(branch.name),
      commit: { id: branch.sha, short_id: branch.sha.slice(0, 8), committed_date: branch.date },
    })),
  )
}

function told(call: RestCall, name: string, pull: PullSetup) {
  return {
    id: pull.number,
    iid: pull.number,
    title: pull.title,
    state: 'opened',
    author: user(call, pull.author),
    references: { short: `!${pull.number}`, relative: `${name}!${pull.number}`, full: `${name}!${pull.number}` },
    has_conflicts: pull.mergeable === false,
    blocking_discussions_resolved: (pull.reviewers ?? []).length === 0,
    web_url: `${call.url}/${name}/-/merge_requests/${pull.number}`,
  }
}

function mergeRequests(call: RestCall): RestAnswer {
  return signedIn(call, (login) => {
    const mine = everywhere(call.world, 'pulls').filter((pull) => pull.author === login)
    return paged(
      call,
      mine.map((pull) => told(call, pull.repository, pull)),
    )
  })
}

function mergeRequest(call: RestCall, name = '', number = ''): RestAnswer {
  const pull = call.world.repositories[name]?.pulls?.find((one) => one.number === Number(number))
  if (pull === undefined) return absent()
  const status = { success: 'success', failure: 'failed', pending: 'running' }[pull.checks ?? 'success']
  return ok({ ...told(call, name, pull), head_pipeline: pull.checks === undefined ? null : { id: 1, status } })
}

function issues(call: RestCall): RestAnswer {
  return signedIn(call, (login) => {
    const mine = everywhere(call.world, 'issues').filter((issue) => issue.assignee === login)
    return paged(
      call,
      mine.map(({ number, title, repository }) => ({
        id: number,
        iid: number,
        title,
        state: 'opened',
        references: { short: `#${number}`, relative: `#${number}`, full: `${repository}#${number}` },
        web_url: `${call.url}/${repository}/-/issues/${number}`,
      })),
    )
  })
}

function note(call: RestCall, name = '', number = '', inReplyTo: string | null = null): RestAnswer {
  return signedIn(call, (author) => {
    const body = String(call.body['body'] ?? '')
    call.world.comments.push({ repository: name, number: Number(number), author, body, inReplyTo })
    return { status: 201, body: { id: call.world.comments.length, body, author: user(call, author) } }
  })
}

function openMergeRequest(call: RestCall, name = ''): RestAnswer {
  return signedIn(call, (author) => {
    const number = call.world.pulls.length + 1000
    const { source_branch: head = '', target_branch: base = '', title = '' } = call.body as Record<string, string>
    call.world.pulls.push({ repository: name, number, author, head, base, title })
    const web_url = `${call.url}/${name}/-/merge_requests/${number}`
    return { status: 201, body: { id: number, iid: number, title, web_url } }
  })
}
