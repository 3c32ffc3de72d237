import { dialect, ok, pageOf, type RestAnswer, type RestCall, type RouteTable } from './forge-dialect.ts'
import { everywhere, type PullSetup, readable, repositoryId, sorted, userId, writable } from './forge-world.ts'
import { rightOf } from './git-server.ts'

/** The forge's own cap on a page, whatever the caller asks for. */
const PAGE_CAP = 50

const routes: RouteTable = [
  ['GET', /^\/user$/, (call) => signedIn(call, (login) => ok(user(call, login)))],
  ['GET', /^\/repos\/search$/, search],
  ['GET', /^\/repos\/issues\/search$/, searchIssues],
  ['GET', /^\/repos\/([^/]+\/[^/]+)$/, (call, name = '') => ok(repository(call, name))],
  ['GET', /^\/repos\/([^/]+\/[^/]+)\/branches$/, branches],
  ['GET', /^\/repos\/([^/]+\/[^/]+)\/pulls\/(\d+)$/, pull],
  ['GET', /^\/repos\/([^/]+\/[^/]+)\/pulls\/(\d+)\/reviews$/, reviews],
  ['GET', /^\/repos\/([^/]+\/[^/]+)\/commits\/([^/]+)\/status$/, checks],
  ['POST', /^\/repos\/([^/]+\/[^/]+)\/issues\/(\d+)\/comments$/, comment],
  ['POST', /^\/repos\/([^/]+\/[^/]+)\/pulls$/, openPull],
]

function absent({ url }: RestCall): RestAnswer {
  return { status: 404, body: { errors: null, message: 'not found', url: `${url}/api/swagger` } }
}

/** Gitea and Forgejo as their REST interface 1.23 answers. */
export const giteaRest = dialect('/api/v1', routes, absent)

const signedIn = (call: RestCall, route: (login: string) => RestAnswer): RestAnswer =>
  call.login === null ? { status: 401, body: { message: 'token is required' } } : route(call.login)

function paged(call: RestCall, all: unknown[], wrap = (items: unknown[]): unknown => items): RestAnswer {
  const { items, headers, total } = pageOf(call, all, { size: 'limit', usual: 30, cap: PAGE_CAP })
  return ok(wrap(items), { ...headers, 'x-total-count': String(total) })
}

function user({ world, url }: RestCall, login: string) {
  return {
    id: userId(world, login),
    login,
    login_name: '',
    full_name: '',
    email: `${login}@example.test`,
    avatar_url: `${url}/avatars/${login}`,
    is_admin: false,
    visibility: 'public',
    username: login,
  }
}

function repository(call: RestCall, name: string) {
  const hosted = call.world.repositories[name] ?? {}
  const right = rightOf(hosted, call.login)
  return {
    id: repositoryId(call.world, name),
    owner: user(call, name.split('/')[0] ?? ''),
    name: name.split('/')[1],
    full_name: name,
    private: hosted.private !== false,
    internal: false,
    html_url: `${call.url}/${name}`,
    clone_url: `${call.url}/${name}.git`,
    stars_count: hosted.stars ?? 0,
    forks_count: hosted.forks ?? 0,
    default_branch: 'main',
    updated_at: hosted.pushedAt ?? '2024-01-01T00:00:00Z',
    permissions: { admin: false, push: right === 'write', pull: right !== 'none' },
  }
}

function search(call: RestCall): RestAnswer {
  const { query, world, login } = call
  const uid = query.get('uid')
  const owner = uid === null ? null : (world.users[Number(uid) - 1] ?? null)
  const words = (query.get('q') ?? '').toLowerCase()
  const visible = readable(world, login).filter((name) => owner === null || writable(world, owner).includes(name))
  const named = visible.filter((name) => (name.split('/')[1] ?? '').toLowerCase().includes(words))
  const names = sorted(world, named, query.get('sort'), query.get('order'))
  return paged(
    call,
    names.map((name) => repository(call, name)),
    (data) => ({ ok: true, data }),
  )
}

async function branches(call: RestCall, name = ''): Promise<RestAnswer> {
  const protectedOnes = call.world.repositories[name]?.protectedBranches ?? []
  const all = await call.branchesOf(name)
  return paged(
    call,
    all.map(({ name: branch, sha, date }) => ({
      name: branch,
      commit: { id: sha, message: `Set up ${branch}\n`, url: `${call.url}/${name}/commit/${sha}`, timestamp: date },
      protected: protectedOnes.includes(branch),
      required_approvals: 0,
      user_can_push: true,
    })),
  )
}

function searchIssues(call: RestCall): RestAnswer {
  return signedIn(call, (login) => {
    const kind = call.query.get('type') === 'pulls' ? 'pulls' : 'issues'
    const mine = everywhere(call.world, kind).filter(
      (item) =>
        (call.query.get('created') !== 'true' || item.author === login) &&
        (call.query.get('assigned') !== 'true' || ('assignee' in item && item.assignee === login)),
    )
    return paged(
      call,
      mine.map((item) => ({
        id: item.number,
        number: item.number,
        title: item.title,
        state: 'open',
        user: user(call, item.author),
        html_url: `${call.url}/${item.repository}/${kind}/${item.number}`,
        repository: { id: repositoryId(call.world, item.repository), full_name: item.repository },
        pull_request: kind === 'pulls' ? { merged: false } : null,
      })),
    )
  })
}

const pullOf = (call: RestCall, name: string, number: string): PullSetup | undefined =>
  call.world.repositories[name]?.pulls?.find((one) => one.number === Number(number))

function pull(call: RestCall, name = '', number = ''): RestAnswer {
  const found = pullOf(call, name, number)
  if (found === undefined) return absent(call)
  return ok({
    id: found.number,
    number: found.number,
    title: found.title,
    user: user(call, found.author),
    state: 'open',
    draft: false,
    mergeable: found.mergeable ?? true,
    head: { label: 'work', ref: 'work', sha: `head-of-${number}` },
    base: { label: 'main', ref: 'main', sha: `base-of-${number}` },
  })
}

function checks(call: RestCall, name = '', ref = ''): RestAnswer {
  const state = pullOf(call, name, ref.replace('head-of-', ''))?.checks ?? ''
  return ok({ state, sha: ref, total_count: state === '' ? 0 : 1, statuses: [] })
}

function reviews(call: RestCall, name = '', number = ''): RestAnswer {
  const reviewers = pullOf(call, name, number)?.reviewers ?? []
  return paged(
    call,
    reviewers.map((login, index) => ({
      id: index + 1,
      user: user(call, login),
      state: 'REQUEST_CHANGES',
      body: '',
      dismissed: false,
      comments_count: 1,
    })),
  )
}

function comment(call: RestCall, name = '', number = ''): RestAnswer {
  return signedIn(call, (author) => {
    const body = String(call.body['body'] ?? '')
    call.world.comments.push({ repository: name, number: Number(number), author, body, inReplyTo: null })
    const id = call.world.comments.length
    const html_url = `${call.url}/${name}/issues/${number}#issuecomment-${id}`
    return { status: 201, body: { id, html_url, body, user: user(call, author) } }
  })
}

function openPull(call: RestCall, name = ''): RestAnswer {
  return signedIn(call, (author) => {
    const number = call.world.pulls.length + 1000
    const { head, base, title } = call.body as Record<'head' | 'base' | 'title', string>
    call.world.pulls.push({ repository: name, number, author, head, base, title })
    return { status: 201, body: { id: number, number, title, html_url: `${call.url}/${name}/pulls/${number}` } }
  })
}
