import type { SuggestedTask, SuggestedTaskType } from '@parley/contract/git-provider'
import { inPath, json, said } from './answers.ts'
import type { ForgeARequest } from './forge-a-request.ts'
import { eachOf } from './tasks.ts'

const MOST_PULL_REQUESTS = 30
const MOST_ISSUES = 50

interface Found {
  number: number
  title: string
  repository_url?: string
  repository?: { full_name: string } | undefined
}

/** What waits for the account: its own open pull requests with trouble, then the open issues assigned to it. */
export async function forgeATasks(ask: ForgeARequest): Promise<SuggestedTask[]> {
  const { login } = json((await ask('GET /user')).data)
  const q = `is:open is:pr author:${login} archived:false`
  const pulls = json((await ask('GET /search/issues', { q, per_page: MOST_PULL_REQUESTS })).data).items
  const issues = json((await ask('GET /issues', { filter: 'assigned', state: 'open', per_page: MOST_ISSUES })).data)
  const troubled = await eachOf(pulls, async (pull) => {
    const trouble = await troubleOf(ask, repositoryOf(pull), pull.number, login)
    return trouble === null ? [] : [taskOf(pull, trouble)]
  })
  const open = issues.filter((issue) => issue.pull_request === undefined || issue.pull_request === null)
  return [...troubled.flat(), ...open.map((issue) => taskOf(issue, 'OPEN_ISSUE'))]
}

/** The first reason why a pull request needs work; null when nothing is wrong with it. */
async function troubleOf(
  ask: ForgeARequest,
  repository: string,
  pull_number: number,
  login: string,
): Promise<SuggestedTaskType | null> {
  const [owner, repo] = inPath(repository)
  const pull = json((await ask('GET /repos/{owner}/{repo}/pulls/{pull_number}', { owner, repo, pull_number })).data)
  if (pull.mergeable === false) return 'MERGE_CONFLICTS'
  if (await checksFail(ask, owner, repo, said(pull.head?.sha))) return 'FAILING_CHECKS'
  const reviewed = await ask('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', { owner, repo, pull_number })
  const waiting = json(reviewed.data).some(
    ({ state, user }) => user?.login !== login && (state === 'CHANGES_REQUESTED' || state === 'COMMENTED'),
  )
  return waiting ? 'UNRESOLVED_COMMENTS' : null
}

/** Checks are told in two interfaces: of apps, and of commit statuses from before them. */
async function checksFail(ask: ForgeARequest, owner: string, repo: string, ref: string): Promise<boolean> {
  const runs = await ask('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', { owner, repo, ref, per_page: 100 })
  const failed = ['failure', 'timed_out', 'action_required']
  if (json(runs.data).check_runs.some(({ conclusion }) => failed.includes(conclusion ?? ''))) return true
  const { state } = json((await ask('GET /repos/{owner}/{repo}/commits/{ref}/status', { owner, repo, ref })).data)
  return state === 'failure' || state === 'error'
}

/** Search results name their repository only in its address. */
const repositoryOf = (found: Found): string =>
  found.repository?.full_name ?? said(found.repository_url).split('/').slice(-2).join('/')

const taskOf = (found: Found, task_type: SuggestedTaskType): SuggestedTask => ({
  git_provider: 'forge_a',
  task_type,
  repo: repositoryOf(found),
  issue_number: said(found.number),
  title: found.title,
})
