import { isDeepStrictEqual } from 'node:util'
import type { Who } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import type { Processor } from '@parley/contract/processors'
import { echoOf, type StartRequest, type StartRequestEcho } from '@parley/contract/start-request'
import type { StartTask } from '@parley/contract/start-tasks'
import type { Clock } from '@parley/store/clock'
import { checkKept } from '@parley/wire/kept-address'
import type { Outbound } from '@parley/wire/outbound'
import type { Git } from '../git/service.ts'
import type { Sandboxes } from '../sandboxes/service.ts'
import type { StartTasks } from './start/start-tasks.ts'
import type { StartTaskStore } from './start/store.ts'
import type { ConversationStore, Whole } from './store.ts'

/*
 * What is settled before there is a task: who may start what. Nothing is stored until all of it holds, so a refusal leaves
 * nothing behind.
 */

export interface BeginParts {
  store: ConversationStore
  taskRows: StartTaskStore
  tasks: StartTasks
  sandboxes: Sandboxes
  git: Git
  way: Pick<Outbound, 'check'>
  clock: Clock
}

export interface Beginner {
  owner: string
  /** A program with a key, or a person at the page: decides the trigger that is not given. */
  kind: Who['kind']
}

const deepest = 5

export const beginner = (parts: BeginParts) => ({
  /** `once`: the id of the task, by which a request that is made again is known. */
  async begin({ owner, kind }: Beginner, request: StartRequest, once?: string): Promise<StartTask> {
    const again = await replay(parts, owner, request, once)
    if (again !== undefined) return again
    secretsReachable(parts, request)
    const parent = await parentOf(parts, owner, request.parent_conversation_id)
    if (request.sandbox_id !== null) await parts.sandboxes.own(owner, request.sandbox_id, 'message')
    const conversation = request.conversation_id ?? parts.clock.id()
    const wanted = expanded(request, parent)
    const source =
      wanted.selected_repository === null
        ? null
        : await parts.git.repositoryAccess(owner, wanted.git_provider, wanted.selected_repository)
    const echo = {
      ...wanted,
      conversation_id: conversation,
      git_provider: source?.kind ?? wanted.git_provider,
      trigger: wanted.trigger ?? (kind === 'key' ? ('service_api' as const) : ('gui' as const)),
    }
    await processorsAllowed(parts, owner, echo)
    const opened = await parts.tasks.open(owner, once ?? parts.clock.id(), echo, request.secrets)
    if (opened !== undefined) return opened
    // Another request with this id came first, between the look above and now.
    const first = await replay(parts, owner, request, once)
    if (first === undefined) throw new Problem('conversation_exists')
    return first
  },
})

/** The same id with the same request is the same start; with another one it is refused. */
async function replay({ store, taskRows, tasks }: BeginParts, owner: string, request: StartRequest, once?: string) {
  const [made] = once === undefined ? [] : await taskRows.many(owner, [once])
  if (made !== undefined) return tasks.view(made)
  const id = request.conversation_id
  if (id === null) return undefined
  const task = await taskRows.ofConversation(id)
  if (task !== undefined && task.owner_id === owner && task.status !== 'ERROR') {
    if (sameRequest(task.request, request)) return tasks.view(task)
    throw new Problem('conversation_exists')
  }
  if ((await store.taken(id)) === 'free' && task?.owner_id === owner) return undefined
  if (task !== undefined || (await store.taken(id)) !== 'free') throw new Problem('conversation_exists')
  return undefined
}

/** What a start fills in where the request says nothing. */
const filledIn = new Set<keyof StartRequestEcho>([
  'sandbox_id',
  'llm_model',
  'selected_repository',
  'selected_branch',
  'trigger',
])

function sameRequest(stored: StartRequestEcho, request: StartRequest): boolean {
  const sent = echoOf(request)
  const fields = Object.keys(sent) as (keyof StartRequestEcho)[]
  const isTask = sent.suggested_task !== null
  return fields.every((field) => {
    if (field === 'conversation_id' || field === 'git_provider') return true
    if (isTask && (field === 'initial_message' || field === 'trigger')) return true
    const said = sent[field] ?? null
    return (said === null && filledIn.has(field)) || isDeepStrictEqual(stored[field] ?? null, said)
  })
}

function secretsReachable({ way }: BeginParts, { secrets }: StartRequest): void {
  for (const [name, source] of Object.entries(secrets ?? {}))
    if (typeof source === 'object' && source.kind === 'LookupSecret')
      checkKept(way, source.url, ['secrets', name, 'url'])
}

async function parentOf({ store }: BeginParts, owner: string, id: string | null): Promise<Whole | null> {
  if (id === null) return null
  const parent = await store.get(owner, id)
  if (parent === undefined) throw new Problem('not_found', 'There is no such parent conversation.')
  let depth = 1
  for (let up = parent.parent_id; up !== null; depth += 1) up = (await store.get(owner, up))?.parent_id ?? null
  if (depth >= deepest)
    throw new Problem('state_conflict', `Conversations can be nested ${deepest} deep.`, { members: { depth } })
  return parent
}

/** Forge and Chat act through a connection of the caller's, never through one of the service's own. */
async function processorsAllowed({ git }: BeginParts, owner: string, { processors, git_provider }: StartRequestEcho) {
  const has = (kind: Processor['kind']) => processors?.some((one) => one.kind === kind) === true
  if (has('ChatV1CallbackProcessor'))
    throw new Problem(
      'processor_not_allowed',
      'No chat is connected: this server has no chat to connect. Subscribe to `conversation.finished` instead.',
    )
  if (!has('ForgeV1CallbackProcessor')) return
  const connected = await git.connected(owner)
  const isThere = git_provider === null ? Object.keys(connected).length === 1 : connected[git_provider] !== undefined
  if (!isThere)
    throw new Problem(
      'processor_not_allowed',
      `ForgeV1CallbackProcessor writes with your own account: connect ${git_provider ?? 'one Git provider'} first.`,
    )
}

/** The request with what it inherits from its parent and what its suggested task stands for. */
function expanded(request: StartRequest, parent: Whole | null): Omit<StartRequestEcho, 'conversation_id'> {
  const task = request.suggested_task
  return {
    ...echoOf(request),
    initial_message: task === null ? request.initial_message : suggestedMessage(task),
    trigger: task === null ? request.trigger : 'suggested_task',
    sandbox_id: request.sandbox_id ?? parent?.sandbox_id ?? null,
    selected_repository: request.selected_repository ?? task?.repo ?? parent?.selected_repository ?? null,
    selected_branch: request.selected_branch ?? parent?.selected_branch ?? null,
    git_provider: request.git_provider ?? task?.git_provider ?? parent?.git_provider ?? null,
    llm_model: request.llm_model ?? parent?.llm_model ?? null,
  }
}

type Suggested = NonNullable<StartRequest['suggested_task']>

const errands: Record<Exclude<Suggested['task_type'], 'OPEN_PR'>, (task: Suggested) => string> = {
  MERGE_CONFLICTS: (task) =>
    `Pull request ${task.issue_number} conflicts with its base branch. Check it out, merge the base, resolve the conflicts in the sense of both sides, run the tests and push.`,
  FAILING_CHECKS: (task) =>
    `The checks of pull request ${task.issue_number} fail. Check it out, find out why, mend it, and push.`,
  UNRESOLVED_COMMENTS: (task) =>
    `Pull request ${task.issue_number} has review comments without an answer. Check it out, read each of them, make the changes they ask for where they are right, and push.`,
  OPEN_ISSUE: (task) =>
    `Work on issue ${task.issue_number}: read it, find the cause in the code, make the change with a test, and push a branch.`,
}

function suggestedMessage(task: Suggested): NonNullable<StartRequestEcho['initial_message']> {
  if (task.task_type === 'OPEN_PR') throw new Problem('validation_error', 'OPEN_PR cannot start a conversation.')
  const text = `${errands[task.task_type](task)}\n\nRepository: ${task.repo}\nTitle: ${task.title}`
  return { role: 'user', content: [{ type: 'text', text, cache_prompt: false }], run: true }
}
