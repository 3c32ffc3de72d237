import type { SuggestedTask, SuggestedTaskType } from '@parley/contract/git-provider'
import { json, said } from './answers.ts'
import type { ForgeBResources } from './forge-b-resources.ts'
import { eachOf } from './tasks.ts'

const MOST_MERGE_REQUESTS = 30
const MOST_ISSUES = 50

interface Found {
  iid: number
  title: string
  references: { full: string }
}

/** What waits for the account: its own open merge requests with trouble, then the open issues assigned to it. */
export async function forgeBTasks(at: ForgeBResources): Promise<SuggestedTask[]> {
  const first = (perPage: number) => ({ page: 1, perPage, state: 'opened' }) as const
  const requests = json(await at.mergeRequests.all({ scope: 'created_by_me', ...first(MOST_MERGE_REQUESTS) }))
  const issues = json(await at.issues.all({ scope: 'assigned_to_me', ...first(MOST_ISSUES) }))
  const troubled = await eachOf(requests as unknown as Found[], async (request) => {
    const trouble = await troubleOf(at, request)
    return trouble === null ? [] : [taskOf(request, trouble)]
  })
  return [...troubled.flat(), ...(issues as unknown as Found[]).map((issue) => taskOf(issue, 'OPEN_ISSUE'))]
}

/** The first reason why a merge request needs work; null when nothing is wrong with it. */
async function troubleOf(at: ForgeBResources, found: Found): Promise<SuggestedTaskType | null> {
  const request = json(await at.mergeRequests.show(repositoryOf(found), said(found.iid)))
  if (request.has_conflicts) return 'MERGE_CONFLICTS'
  if (request.head_pipeline?.status === 'failed') return 'FAILING_CHECKS'
  return request.blocking_discussions_resolved ? null : 'UNRESOLVED_COMMENTS'
}

/** A full reference is `group/project!1` or `group/project#7`. */
const repositoryOf = ({ references }: Found): string => said(references).full.replace(/[!#]\d+$/, '')

const taskOf = (found: Found, task_type: SuggestedTaskType): SuggestedTask => ({
  git_provider: 'forge_b',
  task_type,
  repo: repositoryOf(found),
  issue_number: said(found.iid),
  title: found.title,
})
