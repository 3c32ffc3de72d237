import { dialect, ok, type RestAnswer, type RestCall, type RouteTable } from './forge-dialect.ts'
import { everywhere, type PullSetup, readable, repositoryId, userId, writable } from './forge-world.ts'

const routes: RouteTable = [
  ['GET', /^\/api\/1\.0\/profile\/recent\/repos$/, (call) => signedIn(call, () => paged(call, []))],
  ['GET', /^\/api\/1\.0\/users$/, users],
  ['GET', /^\/api\/1\.0\/projects$/, projects],
  ['GET', /^\/api\/1\.0\/repos$/, repositories],
  ['GET', /^\/api\/1\.0\/dashboard\/pull-requests$/, dashboard],
  ['GET', /^\/build-status\/1\.0\/commits\/([^/]+)$/, builds],
  ['GET', /^\/api\/1\.0\/at\/([^/]+\/[^/]+)$/, (call, name = '') => ok(repository(call, name))],
  ['GET', /^\/api\/1\.0\/at\/([^/]+\/[^/]+)\/default-branch$/, () => ok({ id: 'refs/heads/main', displayId: 'main' })],
  ['GET', /^\/api\/1\.0\/at\/([^/]+\/[^/]+)\/branches$/, branches],
  ['GET', /^\/branch-permissions\/2\.0\/at\/([^/]+\/[^/]+)\/restrictions$/, restrictions],
  ['GET', /^\/api\/1\.0\/at\/([^/]+\/[^/]+)\/pull-requests\/(\d+)\/merge$/, merge],
  ['POST', /^\/api\/1\.0\/at\/([^/]+\/[^/]+)\/pull-requests\/(\d+)\/comments$/, comment],
  ['POST', /^\/api\/1\.0\/at\/([^/]+\/[^/]+)\/pull-requests$/, openPull],
]

const refusal = (status: number, message: string): RestAnswer => ({ status, body: { errors: [{ message }] } })
const absent = () => refusal(404, 'Repository does not exist.')

/** Bitbucket Data Center as its REST interface 1.0 answers. The routes know a repository as `at/PROJECT/slug`. */
export const bitbucketServerRest = dialect(
  {
    base: '',
    rest: (path) =>
      path.startsWith('/rest/')
        ? path.slice('/rest'.length).replace(/\/projects\/([^/]+)\/repos\/([^/]+)/, '/at/$1/$2')
        : undefined,
    git: (path) => path.replace(/^\/scm(?=\/)/, ''),
  },
  routes,
  absent,
)

/** Every answer to someone says to whom. */
function signedIn(call: RestCall, route: (login: string) => RestAnswer): RestAnswer {
  if (call.login === null) return refusal(401, 'You are not permitted to access this resource')
  const { status, body, headers } = route(call.login)
  return { status, body, headers: { ...headers, 'x-ausername': encodeURIComponent(call.login) } }
}

function paged({ query }: RestCall, all: unknown[]): RestAnswer {
  const start = Number(query.get('start') ?? 0)
  const limit = Math.min(1000, Number(query.get('limit') ?? 25))
  const values = all.slice(start, start + limit)
  const isLastPage = start + limit >= all.length
  return ok({ size: values.length, limit, isLastPage, values, start, nextPageStart: isLastPage ? null : start + limit })
}

const user = ({ world }: RestCall, name: string) => ({
  name,
  id: userId(world, name),
  emailAddress: `${name}@example.test`,
  displayName: name,
  active: true,
  slug: name,
  type: 'NORMAL',
})

function users(call: RestCall): RestAnswer {
  const filter = call.query.get('filter') ?? ''
  return signedIn(call, () =>
    paged(
      call,
      call.world.users.filter((name) => name.includes(filter)).map((name) => user(call, name)),
    ),
  )
}

function projects(call: RestCall): RestAnswer {
  const keys = new Set(readable(call.world, call.login).map((name) => name.split('/')[0]))
  return paged(
    call,
    [...keys].map((key) => ({ key, name: key, type: 'NORMAL' })),
  )
}

function repository(call: RestCall, name: string) {
  const [key, slug] = name.split('/')
  return {
    slug,
    id: repositoryId(call.world, name),
    name: slug,
    state: 'AVAILABLE',
    project: { key, id: 1, name: key, public: false, type: 'NORMAL' },
    public: call.world.repositories[name]?.private === false,
    links: { clone: [{ href: `${call.url}/scm/${name}.git`, name: 'http' }] },
  }
}

function repositories(call: RestCall): RestAnswer {
  const { query, world, login } = call
  const mine = query.get('permission') === 'REPO_WRITE'
  if (mine && login === null) return refusal(401, 'You are not permitted to access this resource')
  const words = (query.get('name') ?? '').toLowerCase()
  const project = query.get('projectkey')
  const names = (mine && login !== null ? writable(world, login) : readable(world, login)).filter((name) => {
    const [key, slug = ''] = name.split('/')
    return slug.includes(words) && (project === null || key === project)
  })
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
      id: `refs/heads/${branch.name}`,
      displayId: branch.name,
      type: 'BRANCH',
      latestCommit: branch.sha,
      isDefault: branch.name === 'main',
    })),
  )
}

function restrictions(call: RestCall, name = ''): RestAnswer {
  const protectedOnes = call.world.repositories[name]?.protectedBranches ?? []
  return paged(
    call,
    protectedOnes.map((branch, id) => ({
      id,
      type: 'read-only',
      matcher: { id: `refs/heads/${branch}`, displayId: branch, type: { id: 'BRANCH', name: 'Branch' } },
    })),
  )
}

function dashboard(call: RestCall): RestAnswer {
  return signedIn(call, (login) => {
    const mine = everywhere(call.world, 'pulls').filter((pull) => pull.author === login)
    return paged(
      call,
      mine.map((pull) => ({
        id: pull.number,
        title: pull.title,
        state: 'OPEN',
        author: { user: user(call, pull.author) },
        fromRef: { id: 'refs/heads/work', latestCommit: `head-of-${pull.number}` },
        toRef: { id: 'refs/heads/main', repository: repository(call, pull.repository) },
        reviewers: (pull.reviewers ?? []).map((name) => ({ user: user(call, name), status: 'NEEDS_WORK' })),
        properties: { openTaskCount: 0 },
      })),
    )
  })
}

const pullAt = (call: RestCall, name: string, number: string): PullSetup | undefined =>
  call.world.repositories[name]?.pulls?.find((one) => one.number === Number(number))

function merge(call: RestCall, name = '', number = ''): RestAnswer {
  const pull = pullAt(call, name, number)
  if (pull === undefined) return absent()
  const conflicted = pull.mergeable === false
  return ok({ canMerge: !conflicted, conflicted, outcome: conflicted ? 'CONFLICTED' : 'CLEAN', vetoes: [] })
}

function builds(call: RestCall, commit = ''): RestAnswer {
  const pull = everywhere(call.world, 'pulls').find(({ number }) => `head-of-${number}` === commit)
  const state = { success: 'SUCCESSFUL', failure: 'FAILED', pending: 'INPROGRESS' }[pull?.checks ?? 'success']
  return paged(call, pull?.checks === undefined ? [] : [{ state, key: 'build' }])
}

function comment(call: RestCall, name = '', number = ''): RestAnswer {
  return signedIn(call, (author) => {
    const { text, parent } = call.body as { text: string; parent?: { id: number } }
    const inReplyTo = parent === undefined ? null : String(parent.id)
    call.world.comments.push({ repository: name, number: Number(number), author, body: text, inReplyTo })
    return { status: 201, body: { id: call.world.comments.length, text, author: user(call, author) } }
  })
}

function openPull(call: RestCall, name = ''): RestAnswer {
  return signedIn(call, (author) => {
    const { title, fromRef, toRef } = call.body as Record<'title', string> & Record<'fromRef' | 'toRef', { id: string }>
    const number = call.world.pulls.length + 1000
    const [head, base] = [fromRef, toRef].map(({ id }) => id.replace('refs/heads/', '')) as [string, string]
    call.world.pulls.push({ repository: name, number, author, head, base, title })
    const [key, slug] = name.split('/')
    const self = [{ href: `${call.url}/projects/${key}/repos/${slug}/pull-requests/${number}` }]
    return { status: 201, body: { id: number, title, state: 'OPEN', links: { self } } }
  })
}
