import type { SuggestedTask, SuggestedTaskType } from '@parley/contract/git-provider'
import type { Api, Issue } from 'gitea-js'
import { inPath, json, said } from './answers.ts'
import { eachOf } from './tasks.ts'

const MOST_PULL_REQUESTS = 30
const MOST_ISSUES = 50

/** What waits for the account: its own open pull requests with trouble, then the open issues assigned to it. */
export async function openForgeTasks(api: Api<unknown>): Promise<SuggestedTask[]> {
  const pulls = await api.repos.issueSearchIssues({
    type: 'pulls',
    created: true,
    state: 'open',
    limit: MOST_PULL_REQUESTS,
  })
  const issues = await api.repos.issueSearchIssues({
    type: 'issues',
    assigned: true,
    state: 'open',
    limit: MOST_ISSUES,
  })
  const troubled = await eachOf(json(pulls.data), async (pull) => {
    const trouble = await troubleOf(api, pull)
    return trouble === null ? [] : [taskOf(pull, trouble)]
  })
  return [...troubled.flat(), ...json(issues.data).map((issue) => taskOf(issue, 'OPEN_ISSUE'))]
}

/** The first reason why a pull request needs work; null when nothing is wrong with it. */
async function troubleOf(api: Api<unknown>, issue: Issue): Promise<SuggestedTaskType | null> {
  const [owner, name] = inPath(said(issue.repository?.full_name))
  const pull = json((await api.repos.repoGetPullRequest(owner, name, said(issue.number))).data)
  if (pull.mergeable === false && pull.draft !== true) return 'MERGE_CONFLICTS'
  const head = encodeURIComponent(said(pull.head?.sha))
  const checks = json((await api.repos.repoGetCombinedStatusByRef(owner, name, head)).data)
  if (checks.state === 'failure' || checks.state === 'error') return 'FAILING_CHECKS'
  const reviews = json((await api.repos.repoListPullReviews(owner, name, said(issue.number))).data)
  const waiting = reviews.some(
    (review) =>
      review.user?.id !== issue.user?.id &&
      review.dismissed !== true &&
      (review.state === 'REQUEST_CHANGES' || (review.comments_count ?? 0) > 0),
  )
  return waiting ? 'UNRESOLVED_COMMENTS' : null
}

function taskOf(issue: Issue, task_type: SuggestedTaskType): SuggestedTask {
  return {
    git_provider: 'open_forge',
    task_type,
    repo: said(issue.repository?.full_name),
    issue_number: said(issue.number),
    title: issue.title ?? '',
  }
}
