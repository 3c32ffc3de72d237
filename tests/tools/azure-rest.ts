import { dialect, ok, type RestAnswer, type RestCall, type RouteTable } from './forge-dialect.ts'
import { everywhere, type PullSetup, readable, repositoryId, userId } from './forge-world.ts'

const routes: RouteTable = [
  ['GET', /^\/_apis\/connectionData$/, connection],
  ['GET', /^\/_apis\/git\/repositories$/, repositories],
  ['GET', /^\/_apis\/git\/pullrequests$/, pulls],
  ['POST', /^\/_apis\/wit\/wiql$/, workItems],
  ['GET', /^\/_apis\/wit\/workitems$/, workItemFields],
  ['GET', /^\/[^/]+\/_apis\/git\/policy\/configurations$/, policies],
  ['GET', /^\/[^/]+\/_apis\/policy\/evaluations$/, evaluations],
  ['POST', /^\/([^/]+)\/_apis\/wit\/workItems\/(\d+)\/comments$/, workItemComment],
  ['GET', /^\/at\/([^/]+\/[^/]+)$/, (call, name = '') => ok(repository(call, name))],
  ['GET', /^\/at\/([^/]+\/[^/]+)\/refs$/, refs],
  ['GET', /^\/at\/([^/]+\/[^/]+)\/pullRequests\/(\d+)\/statuses$/, statuses],
  ['GET', /^\/at\/([^/]+\/[^/]+)\/pullRequests\/(\d+)\/threads$/, threads],
  ['POST', /^\/at\/([^/]+\/[^/]+)\/pullRequests\/(\d+)\/threads$/, openThread],
  ['POST', /^\/at\/([^/]+\/[^/]+)\/pullRequests\/(\d+)\/threads\/(\d+)\/comments$/, answerThread],
  ['POST', /^\/at\/([^/]+\/[^/]+)\/pullrequests$/, openPull],
]

const refusal = (status: number, message: string): RestAnswer => ({ status, body: { $id: '1', message } })
const absent = () => refusal(404, 'TF401019: The Git repository does not exist or you do not have permissions.')

/** The organisation that this forge is, in all of its paths. */
const ORGANISATION = '/umbrella'

/** Azure DevOps as its REST interface 6.0 answers. The routes know a repository as `at/project/name`. */
export const azureRest = dialect(
  {
    base: ORGANISATION,
    rest: (path) =>
      path.startsWith(`${ORGANISATION}/`) && path.includes('/_apis/')
        ? path.slice(ORGANISATION.length).replace(/^\/([^/]+)\/_apis\/git\/repositories\/([^/]+)/, '/at/$1/$2')
        : undefined,
    git: (path) => path.slice(ORGANISATION.length).replace(/^\/([^/]+)\/_git\/([^/]+)/, '/$1/$2'),
  },
  routes,
  absent,
)

const signedIn = (call: RestCall, route: (login: string) => RestAnswer): RestAnswer =>
  call.login === null
    ? refusal(401, 'TF400813: The user is not authorized to access this resource.')
    : route(call.login)

const listed = (value: unknown[]): RestAnswer => ok({ count: value.length, value })
const guid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const projectId = (project: string): string => guid(1_000_000 + (project.codePointAt(0) ?? 0))
const identity = (call: RestCall, login: string) => ({ id: guid(userId(call.world, login)), displayName: login })

function connection(call: RestCall): RestAnswer {
  return signedIn(call, (login) => {
    const properties = { Account: { $type: 'System.String', $value: login } }
    const authenticatedUser = { id: identity(call, login).id, providerDisplayName: login, properties }
    return ok({ authenticatedUser, instanceId: guid(0), deploymentType: 'hosted' })
  })
}

function repository(call: RestCall, name: string) {
  const [project = '', own] = name.split('/')
  const isPublic = call.world.repositories[name]?.private === false
  return {
    id: guid(repositoryId(call.world, name)),
    name: own,
    project: { id: projectId(project), name: project, visibility: isPublic ? 'public' : 'private' },
    defaultBranch: 'refs/heads/main',
    isDisabled: false,
    remoteUrl: `${call.url}/${project}/_git/${own}`,
  }
}

function repositories(call: RestCall): RestAnswer {
  return listed(readable(call.world, call.login).map((name) => repository(call, name)))
}

async function refs(call: RestCall, name = ''): Promise<RestAnswer> {
  const { query } = call
  const from = query.get('continuationToken')
  const all = (await call.branchesOf(name)).filter((branch) => from === null || branch.name >= from)
  const size = Number(query.get('$top') ?? 1000)
  const shown = all.slice(0, size).map((branch) => ({ name: `refs/heads/${branch.name}`, objectId: branch.sha }))
  const next = all[size]
  const headers = next === undefined ? {} : { 'x-ms-continuationtoken': next.name }
  return { status: 200, body: { count: shown.length, value: shown }, headers: headers as Record<string, string> }
}

function policies(call: RestCall): RestAnswer {
  const wanted = call.query.get('repositoryId')
  const [, hosted] =
    Object.entries(call.world.repositories).find(([name]) => guid(repositoryId(call.world, name)) === wanted) ?? []
  return listed(
    (hosted?.protectedBranches ?? []).map((branch) => ({
      isEnabled: true,
      isBlocking: true,
      isDeleted: false,
      settings: { scope: [{ refName: `refs/heads/${branch}`, matchKind: 'Exact', repositoryId: wanted }] },
    })),
  )
}

function pulls(call: RestCall): RestAnswer {
  const creator = call.query.get('searchCriteria.creatorId')
  const mine = everywhere(call.world, 'pulls').filter((pull) => identity(call, pull.author).id === creator)
  return listed(
    mine.map((pull) => ({
      pullRequestId: pull.number,
      title: pull.title,
      status: 'active',
      mergeStatus: pull.mergeable === false ? 'conflicts' : 'succeeded',
      createdBy: identity(call, pull.author),
      repository: repository(call, pull.repository),
    })),
  )
}

const pullAt = (call: RestCall, name: string, number: string): PullSetup | undefined =>
  call.world.repositories[name]?.pulls?.find((one) => one.number === Number(number))

function statuses(call: RestCall, name = '', number = ''): RestAnswer {
  const { checks } = pullAt(call, name, number) ?? {}
  const state = { success: 'succeeded', failure: 'failed', pending: 'pending' }[checks ?? 'success']
  return listed(checks === undefined ? [] : [{ id: 1, state, context: { name: 'ci' } }])
}

function evaluations(): RestAnswer {
  return listed([])
}

function threads(call: RestCall, name = '', number = ''): RestAnswer {
  const reviewers = pullAt(call, name, number)?.reviewers ?? []
  const system = {
    id: 1,
    comments: [{ id: 1, commentType: 'system', author: identity(call, 'bob'), content: 'voted' }],
  }
  const waiting = reviewers.map((login, index) => ({
    id: index + 2,
    status: 'active',
    isDeleted: false,
    comments: [{ id: 1, commentType: 'text', author: identity(call, login), content: 'Why?' }],
  }))
  return listed([system, ...waiting])
}

const assigned = (call: RestCall, login: string) =>
  everywhere(call.world, 'issues').filter((issue) => issue.assignee === login)

function workItems(call: RestCall): RestAnswer {
  return signedIn(call, (login) =>
    ok({ queryType: 'flat', workItems: assigned(call, login).map(({ number }) => ({ id: number })) }),
  )
}

function workItemFields(call: RestCall): RestAnswer {
  const ids = (call.query.get('ids') ?? '').split(',').map(Number)
  const items = everywhere(call.world, 'issues').filter(({ number }) => ids.includes(number))
  return listed(
    items.map(({ number, title, repository: name }) => ({
      id: number,
      fields: { 'System.Title': title, 'System.TeamProject': name.split('/')[0] },
    })),
  )
}

function told(call: RestCall, repository: string, number: string, body: unknown, inReplyTo: string | null): RestAnswer {
  return signedIn(call, (author) => {
    call.world.comments.push({ repository, number: Number(number), author, body: String(body), inReplyTo })
    return ok({ id: call.world.comments.length, text: body })
  })
}

/** It knows a project only: the repository is the one in it that holds the issue. */
function workItemComment(call: RestCall, project = '', number = ''): RestAnswer {
  const item = everywhere(call.world, 'issues').find(
    (one) => one.number === Number(number) && one.repository.startsWith(`${project}/`),
  )
  return item === undefined ? absent() : told(call, item.repository, number, call.body['text'], null)
}

function openThread(call: RestCall, name = '', number = ''): RestAnswer {
  const [first] = call.body['comments'] as { content: string }[]
  return told(call, name, number, first?.content, null)
}

function answerThread(call: RestCall, name = '', number = '', thread = ''): RestAnswer {
  return told(call, name, number, call.body['content'], thread)
}

function openPull(call: RestCall, name = ''): RestAnswer {
  return signedIn(call, (author) => {
    const { title = '', sourceRefName = '', targetRefName = '' } = call.body as Record<string, string>
    const number = call.world.pulls.length + 1000
    const [head, base] = [sourceRefName, targetRefName].map((ref) => ref.replace('refs/heads/', '')) as [string, string]
    call.world.pulls.push({ repository: name, number, author, head, base, title })
    return { status: 201, body: { pullRequestId: number, title, status: 'active' } }
  })
}
