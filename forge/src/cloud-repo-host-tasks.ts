import type { SuggestedTask, SuggestedTaskType } from '@parley/contract/git-provider'
import { inPath, said } from './answers.ts'
import { ForgeError } from './forge.ts'
import type { Rest } from './rest.ts'
import { eachOf } from './tasks.ts'

const MOST_PULL_REQUESTS = 30

/** What every listing of the interface looks like. */
export interface Values<T> {
  values: T[]
  /** Address of the next page; absent on the last. */
  next?: string
}

interface FoundPull {
  id: number
  title: string
  source: { commit: { hash: string } }
  destination: { commit: { hash: string }; repository: { full_name: string } }
  participants?: { user: { uuid: string }; state: string | null }[]
  task_count?: number
  comment_count?: number
}

interface FoundComment {
  user?: { uuid: string }
  deleted?: boolean
  resolution?: object | null
  inline?: object
  parent?: object
}

/** The account's own open pull requests with trouble, of all its workspaces. */
export async function cloudRepoHostTasks(ask: Rest, user: string, workspaces: string[]): Promise<SuggestedTask[]> {
  const asked = { state: 'OPEN', pagelen: MOST_PULL_REQUESTS }
  const lists = await eachOf(workspaces, async (workspace) => {
    const { data } = await ask.get<Values<FoundPull>>(['workspaces', workspace, 'pullrequests', user], asked)
    return said(data.values)
  })
  const tasks = await eachOf(lists.flat().slice(0, MOST_PULL_REQUESTS), async (pull) => {
    const task_type = await troubleOf(ask, user, pull)
    const repo = said(pull.destination.repository.full_name)
    const about = { git_provider: 'cloud_repo_host', repo, issue_number: said(pull.id), title: pull.title } as const
    return task_type === null ? [] : [{ ...about, task_type }]
  })
  return tasks.flat()
}

/** The first reason why a pull request needs work; null when nothing is wrong with it. */
async function troubleOf(ask: Rest, user: string, listed: FoundPull): Promise<SuggestedTaskType | null> {
  const repository = ['repositories', ...inPath(said(listed.destination.repository.full_name))]
  const at = [...repository, 'pullrequests', String(said(listed.id))]
  const { data: pull } = await ask.get<FoundPull>(at)
  if (await conflicts(ask, repository, pull)) return 'MERGE_CONFLICTS'
  const { data: checks } = await ask.get<Values<{ state: string }>>([...at, 'statuses'], { pagelen: 100 })
  if (said(checks.values).some(({ state }) => state === 'FAILED')) return 'FAILING_CHECKS'
  const refused = (pull.participants ?? []).some(({ state }) => state === 'changes_requested')
  if (refused || (pull.task_count ?? 0) > 0) return 'UNRESOLVED_COMMENTS'
  if ((pull.comment_count ?? 0) === 0) return null
  const { data: comments } = await ask.get<Values<FoundComment>>([...at, 'comments'], { pagelen: 100 })
  return said(comments.values).some((comment) => waits(comment, user)) ? 'UNRESOLVED_COMMENTS' : null
}

/** Someone else's remark on a line, without an end. */
const waits = ({ user, deleted, resolution, inline, parent }: FoundComment, self: string): boolean =>
  inline !== undefined && parent === undefined && deleted !== true && !resolution && user?.uuid !== self

/** What a merge would change says which files conflict. Of a source that is gone nothing can be said. */
async function conflicts(ask: Rest, repository: string[], { source, destination }: FoundPull): Promise<boolean> {
  const spec = `${said(source.commit).hash}..${said(destination.commit).hash}`
  try {
    const { data } = await ask.get<Values<{ status: string }>>([...repository, 'diffstat', spec], { pagelen: 500 })
    return said(data.values).some(({ status }) => /conflict/.test(status))
  } catch (error) {
    if (error instanceof ForgeError && error.failure === 'not_found') return false
    throw error
  }
}
