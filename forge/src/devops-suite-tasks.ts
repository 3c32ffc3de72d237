import { repositoryName } from '@parley/contract/git-names'
import type { SuggestedTask, SuggestedTaskType } from '@parley/contract/git-provider'
import { inPath, said } from './answers.ts'
import type { Rest } from './rest.ts'
import { eachOf } from './tasks.ts'

const MOST_PULL_REQUESTS = 30
const MOST_WORK_ITEMS = 50
/** The kind of policy that runs a build, by the id that it has everywhere. */
const BUILD_POLICY = '0609b952-1397-4640-95ec-b00a01b2c241'
const PREVIEW = { 'api-version': '6.0-preview' }

type Version = Record<string, string>

export interface FoundRepository {
  id: string
  name: string
  project: { id: string; name: string; visibility?: string }
  defaultBranch?: string
  isDisabled?: boolean
}

/** Where the interface has a repository, and what is below it. */
export const inDevops = (project: string, name: string, ...below: string[]): string[] => [
  project,
  '_apis',
  'git',
  'repositories',
  name,
  ...below,
]

/** A name that does not fit is told as the id. */
export function fullNameOf({ id, name, project }: FoundRepository): string {
  const fits = (text: string) => repositoryName(`x/${text}`)
  return `${fits(said(project).name) ? project.name : said(project.id)}/${fits(said(name)) ? name : said(id)}`
}

interface FoundPull {
  pullRequestId: number
  title: string
  mergeStatus?: string
  createdBy: { id: string }
  repository: FoundRepository
}

interface Evaluation {
  status: string
  configuration: { type: { id: string } }
}

interface Thread {
  status?: string
  isDeleted?: boolean
  comments: { commentType?: string; author: { id: string } }[]
}

interface WorkItem {
  id: number
  fields: { 'System.Title': string; 'System.TeamProject': string }
}

/** What waits for the account: its own open pull requests with trouble, then the open work items assigned to it. */
export async function devopsSuiteTasks(ask: Rest, version: Version, user: string): Promise<SuggestedTask[]> {
  const asked = { 'searchCriteria.creatorId': user, 'searchCriteria.status': 'active', $top: MOST_PULL_REQUESTS }
  const { data } = await ask.get<{ value: FoundPull[] }>(['_apis', 'git', 'pullrequests'], { ...asked, ...version })
  const tasks = await eachOf(said(data.value), async (pull): Promise<SuggestedTask[]> => {
    const trouble = await troubleOf(ask, version, pull)
    return trouble === null ? [] : [taskOf(fullNameOf(pull.repository), said(pull.pullRequestId), pull.title, trouble)]
  })
  return [...tasks.flat(), ...(await workItemTasks(ask, version))]
}

/** The first reason why a pull request needs work; null when nothing is wrong with it. */
async function troubleOf(ask: Rest, version: Version, pull: FoundPull): Promise<SuggestedTaskType | null> {
  if (pull.mergeStatus === 'conflicts') return 'MERGE_CONFLICTS'
  const at = inDevops(...inPath(fullNameOf(pull.repository)), 'pullRequests', String(said(pull.pullRequestId)))
  if (await checksFail(ask, version, at, pull)) return 'FAILING_CHECKS'
  const { data } = await ask.get<{ value: Thread[] }>([...at, 'threads'], version)
  return said(data.value).some((thread) => waits(thread, pull.createdBy.id)) ? 'UNRESOLVED_COMMENTS' : null
}

/** A service from outside leaves a status; a build of the suite itself is the evaluation of a policy. */
async function checksFail(ask: Rest, version: Version, at: string[], pull: FoundPull): Promise<boolean> {
  const { data: statuses } = await ask.get<{ value: { state: string }[] }>([...at, 'statuses'], version)
  if (said(statuses.value).some(({ state }) => state === 'failed' || state === 'error')) return true
  const project = pull.repository.project.id
  const artifactId = `vstfs:///CodeReview/CodeReviewId/${project}/${pull.pullRequestId}`
  const evaluations = [project, '_apis', 'policy', 'evaluations']
  const { data } = await ask.get<{ value: Evaluation[] }>(evaluations, { artifactId, ...PREVIEW })
  return said(data.value).some(
    ({ status, configuration }) =>
      configuration.type.id === BUILD_POLICY && (status === 'rejected' || status === 'broken'),
  )
}

const waits = ({ status, isDeleted, comments }: Thread, author: string): boolean =>
  status === 'active' &&
  isDeleted !== true &&
  comments.some((comment) => comment.commentType === 'text' && comment.author.id !== author)

const OPEN_ITEMS = `SELECT [System.Id] FROM WorkItems WHERE [System.AssignedTo] = @Me
  AND [System.State] NOT IN ('Closed', 'Completed', 'Done', 'Removed', 'Resolved') ORDER BY [System.ChangedDate] DESC`

/** A work item belongs to a project: it is told for the repository that has the project's name, which each one begins with. */
async function workItemTasks(ask: Rest, version: Version): Promise<SuggestedTask[]> {
  const asked = { $top: MOST_WORK_ITEMS, ...version }
  const found = await ask.post<{ workItems: { id: number }[] }>(['_apis', 'wit', 'wiql'], { query: OPEN_ITEMS }, asked)
  const ids = said(found.data.workItems).map(({ id }) => said(id))
  if (ids.length === 0) return []
  const [items, repositories] = await Promise.all([
    ask.get<{ value: WorkItem[] }>(['_apis', 'wit', 'workitems'], {
      ids: ids.join(','),
      fields: 'System.Title,System.TeamProject',
      ...version,
    }),
    ask.get<{ value: FoundRepository[] }>(['_apis', 'git', 'repositories'], version),
  ])
  return said(items.data.value).flatMap(({ id, fields }) => {
    const project = fields['System.TeamProject']
    const own = said(repositories.data.value).filter((one) => one.project.name === project && one.isDisabled !== true)
    const repository = own.find(({ name }) => name === project) ?? (own.length === 1 ? own[0] : undefined)
    return repository === undefined
      ? []
      : [taskOf(fullNameOf(repository), said(id), fields['System.Title'], 'OPEN_ISSUE')]
  })
}

const taskOf = (repo: string, issue_number: number, title: string, task_type: SuggestedTaskType): SuggestedTask => ({
  git_provider: 'devops_suite',
  task_type,
  repo,
  issue_number,
  title,
})
