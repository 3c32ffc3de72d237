import type { SuggestedTask, SuggestedTaskType } from '@parley/contract/git-provider'
import { said } from './answers.ts'
import type { Rest } from './rest.ts'
import { eachOf } from './tasks.ts'

const MOST_PULL_REQUESTS = 30

export interface FoundRepository {
  id: number
  slug: string
  public?: boolean
  project: { key: string; type?: string; public?: boolean }
}

export const fullNameOf = ({ slug, project }: FoundRepository): string => `${said(project).key}/${said(slug)}`

/** Where the interface has a repository, and what is below it. */
export const inDatacenter = (key: string, slug: string, ...below: string[]): string[] => [
  'api',
  '1.0',
  'projects',
  key,
  'repos',
  slug,
  ...below,
]

interface FoundPull {
  id: number
  title: string
  fromRef: { latestCommit: string }
  toRef: { repository: FoundRepository }
  reviewers?: { status: string }[]
  properties?: { openTaskCount?: number }
}

/** The account's own open pull requests with trouble. */
export async function datacenterRepoHostTasks(ask: Rest): Promise<SuggestedTask[]> {
  const asked = { role: 'AUTHOR', state: 'OPEN', limit: MOST_PULL_REQUESTS }
  const { data } = await ask.get<{ values: FoundPull[] }>(['api', '1.0', 'dashboard', 'pull-requests'], asked)
  const tasks = await eachOf(said(data.values), async (pull) => {
    const task_type = await troubleOf(ask, pull)
    const repo = fullNameOf(said(pull.toRef).repository)
    const about = {
      git_provider: 'datacenter_repo_host',
      repo,
      issue_number: said(pull.id),
      title: pull.title,
    } as const
    return task_type === null ? [] : [{ ...about, task_type }]
  })
  return tasks.flat()
}

/** The first reason why a pull request needs work; null when nothing is wrong with it. */
async function troubleOf(ask: Rest, pull: FoundPull): Promise<SuggestedTaskType | null> {
  const { slug, project } = said(pull.toRef).repository
  const at = inDatacenter(project.key, slug, 'pull-requests', String(said(pull.id)))
  const { data: merge } = await ask.get<{ conflicted: boolean }>([...at, 'merge'])
  if (merge.conflicted) return 'MERGE_CONFLICTS'
  const commit = ['build-status', '1.0', 'commits', said(pull.fromRef).latestCommit]
  const { data: builds } = await ask.get<{ values: { state: string }[] }>(commit, { limit: 100 })
  if (said(builds.values).some(({ state }) => state === 'FAILED')) return 'FAILING_CHECKS'
  const refused = (pull.reviewers ?? []).some(({ status }) => status === 'NEEDS_WORK')
  return refused || (pull.properties?.openTaskCount ?? 0) > 0 ? 'UNRESOLVED_COMMENTS' : null
}
