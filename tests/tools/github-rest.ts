import { dialect, ok, pageOf, type RestAnswer, type RestCall, type RouteTable } from './forge-dialect.ts'
import { everywhere, type PullSetup, readable, repositoryId, sorted, userId, writable } from './forge-world.ts'
import { rightOf } from './git-server.ts'

const routes: RouteTable = [
  ['GET', /^\/user$/, (call) => signedIn(call, (login) => ok(user(call, login)))],
  ['GET', /^\/user\/repos$/, ownRepositories],
  ['GET', /^\/user\/installations$/, installations],
  ['GET', /^\/user\/installations\/(\d+)\/repositories$/, installedRepositories],
  ['GET', /^\/search\/repositories$/, searchRepositories],
  ['GET', /^\/search\/issues$/, searchPulls],
  ['GET', /^\/issues$/, assignedIssues],
  ['GET', /^\/repos\/([^/]+\/[^/]+)$/, (call, name = '') => ok(repository(call, name))],
  ['GET', /^\/repos\/([^/]+\/[^/]+)\/branches$/, branches],
  ['GET', /^\/repos\/([^/]+\/[^/]+)\/pulls\/(\d+)$/, pull],
  ['GET', /^\/repos\/([^/]+\/[^/]+)\/pulls\/(\d+)\/reviews$/, reviews],
  ['GET', /^\/repos\/([^/]+\/[^/]+)\/commits\/([^/]+)\/check-runs$/, checkRuns],
  ['GET', /^\/repos\/([^/]+\/[^/]+)\/commits\/([^/]+)\/status$/, () => ok({ state: 'pending', statuses: [] })],
  ['POST', /^\/repos\/([^/]+\/[^/]+)\/issues\/(\d+)\/comments$/, comment],
  ['POST', /^\/repos\/([^/]+\/[^/]+)\/pulls\/(\d+)\/comments\/(\d+)\/replies$/, comment],
  ['POST', /^\/repos\/([^/]+\/[^/]+)\/pulls$/, openPull],
]

/** GitHub Enterprise Server as its REST interface 2022-11-28 answers. */
export const githubRest = dialect('/api/v3', routes, absent)

function absent(): RestAnswer {
  return {
    status: 404,
    body: { message: 'Not Found', documentation_url: 'https://docs.example.test/rest', status: '404' },
  }
}

function signedIn(call: RestCall, route: (login: string) => RestAnswer): RestAnswer {
  if (call.login !== null) return route(call.login)
  return { status: 401, body: { message: 'Requires authentication', status: '401' } }
}

function paged(call: RestCall, all: unknown[], wrap: (items: unknown[], total: number) => unknown = (items) => items) {
  const { items, headers, total } = pageOf(call, all, { size: 'per_page', usual: 30, cap: 100 })
  return ok(wrap(items, total), headers)
}

function user({ world, url }: RestCall, login: string) {
  const id = userId(world, login)
  return { login, id, node_id: `U_${id}`, type: 'User', html_url: `${url}/${login}`, email: null, site_admin: false }
}

function repository(call: RestCall, name: string) {
  const hosted = call.world.repositories[name] ?? {}
  const hidden = hosted.private !== false
  return {
    id: repositoryId(call.world, name),
    name: name.split('/')[1],
    full_name: name,
    private: hidden,
    visibility: hidden ? 'private' : 'public',
    owner: { login: name.split('/')[0], id: 1, type: name.startsWith('acme/') ? 'Organization' : 'User' },
    html_url: `${call.url}/${name}`,
    clone_url: `${call.url}/${name}.git`,
    stargazers_count: hosted.stars ?? 0,
    forks_count: hosted.forks ?? 0,
    pushed_at: hosted.pushedAt ?? '2024-01-01T00:00:00Z',
    default_branch: 'main',
    permissions: { admin: false, push: rightOf(hosted, call.login) === 'write', pull: true },
  }
}

function ownRepositories(call: RestCall): RestAnswer {
  return signedIn(call, (login) => {
    const order = call.query.get('sort') === 'pushed' ? 'updated' : null
    const names = sorted(call.world, writable(call.world, login), order, call.query.get('direction'))
    return paged(
      call,
      names.map((name) => repository(call, name)),
    )
  })
}

function installations(call: RestCall): RestAnswer {
  return signedIn(call, () => ok({ total_count: 2, installations: [{ id: 41 }, { id: 42 }] }))
}

/** Installation 41 is of `acme`, 42 of `bob`. */
function installedRepositories(call: RestCall, id = ''): RestAnswer {
  return signedIn(call, (login) => {
    const owner = id === '41' ? 'acme/' : 'bob/'
    const names = readable(call.world, login).filter((name) => name.startsWith(owner))
    const found = names.map((name) => repository(call, name))
    return paged(call, found, (repositories, total_count) => ({ total_count, repositories }))
  })
}

function searchRepositories(call: RestCall): RestAnswer {
  const words = (call.query.get('q') ?? '').replace(/ in:name$/, '').toLowerCase()
  const named = readable(call.world, call.login).filter((name) => (name.split('/')[1] ?? '').includes(words))
  const found = sorted(call.world, named, call.query.get('sort'), call.query.get('order'))
  return paged(
    call,
    found.map((name) => repository(call, name)),
    (items, total_count) => ({ total_count, incomplete_results: false, items }),
  )
}

async function branches(call: RestCall, name = ''): Promise<RestAnswer> {
  const protectedOnes = call.world.repositories[name]?.protectedBranches ?? []
  const all = await call.branchesOf(name)
  return paged(
    call,
    all.map((branch) => ({
      name: branch.name,
      commit: { sha: branch.sha, url: `${call.url}/api/v3/repos/${name}/commits/${branch.sha}` },
      protected: protectedOnes.includes(branch.name),
    })),
  )
}

function searchPulls(call: RestCall): RestAnswer {
  const author = /\bauthor:(\S+)/.exec(call.query.get('q') ?? '')?.[1]
  const found = everywhere(call.world, 'pulls').filter((item) => item.author === author)
  const items = found.map((item) => ({
    number: item.number,
    title: item.title,
    state: 'open',
    user: user(call, item.author),
    repository_url: `${call.url}/api/v3/repos/${item.repository}`,
    pull_request: { url: `${call.url}/api/v3/repos/${item.repository}/pulls/${item.number}` },
  }))
  return paged(call, items, (page, total_count) => ({ total_count, incomplete_results: false, items: page }))
}

/** Of issues and, as this forge does, of pull requests too. */
function assignedIssues(call: RestCall): RestAnswer {
  return signedIn(call, (login) => {
    const issues = everywhere(call.world, 'issues').filter((item) => item.assignee === login)
    const pulls = everywhere(call.world, 'pulls').map((item) => ({ ...item, pull_request: {} }))
    return paged(
      call,
      [...issues, ...pulls].map(({ number, title, repository: name, ...rest }) => ({
        number,
        title,
        repository: { full_name: name },
        ...('pull_request' in rest ? { pull_request: rest.pull_request } : {}),
      })),
    )
  })
}

const pullOf = (call: RestCall, name: string, number: string): PullSetup | undefined =>
  call.world.repositories[name]?.pulls?.find((one) => one.number === Number(number))

function pull(call: RestCall, name = '', number = ''): RestAnswer {
  const found = pullOf(call, name, number)
  if (found === undefined) return absent()
  const mergeable = found.mergeable ?? true
  return ok({
    number: found.number,
    title: found.title,
    user: user(call, found.author),
    state: 'open',
    mergeable,
    mergeable_state: mergeable ? 'clean' : 'dirty',
    head: { ref: 'work', sha: `head-of-${number}` },
    base: { ref: 'main', sha: `base-of-${number}` },
  })
}

function checkRuns(call: RestCall, name = '', ref = ''): RestAnswer {
  const checks = pullOf(call, name, ref.replace('head-of-', ''))?.checks
  const conclusion = checks === 'pending' ? null : checks
  const check_runs = checks === undefined ? [] : [{ id: 1, name: 'build', status: 'completed', conclusion }]
  return ok({ total_count: check_runs.length, check_runs })
}

function reviews(call: RestCall, name = '', number = ''): RestAnswer {
  const reviewers = pullOf(call, name, number)?.reviewers ?? []
  return paged(
    call,
    reviewers.map((login, id) => ({ id, user: user(call, login), state: 'CHANGES_REQUESTED', body: '' })),
  )
}

function comment(call: RestCall, name = '', number = '', inReplyTo: string | null = null): RestAnswer {
  return signedIn(call, (author) => {
    const body = String(call.body['body'] ?? '')
    call.world.comments.push({ repository: name, number: Number(number), author, body, inReplyTo })
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
    return { status: 201, body: { id: number, number, title, html_url: `${call.url}/${name}/pull/${number}` } }
  })
}
