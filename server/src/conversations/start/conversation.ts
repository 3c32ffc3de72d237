import { browserIn } from '@parley/agent/browser/launch'
import { withParameters } from '@parley/agent/plugins/parameters'
import { type UserMessage, withSkills, withSuffix } from '@parley/agent/skills/activate'
import type { NewEvent } from '@parley/contract/events'
import type { SecretSource } from '@parley/contract/secret-sources'
import type { Hands } from '@parley/sandbox/driver'
import type { Clock } from '@parley/store/clock'
import type { Jobs } from '@parley/store/jobs'
import type { Seal } from '@parley/store/seal'
import type { Wake } from '@parley/store/wake'
import { projectIn, type Sandboxes } from '../../sandboxes/service.ts'
import type { SettingsService } from '../../settings/service.ts'
import { type ConversationConfig, configOf, type SealedConfig, sealedOf } from '../config.ts'
import { newRow } from '../log/record.ts'
import { logStore } from '../log/store.ts'
import { noExtensions } from '../skills/load.ts'
import { type SkillStore, skillStore } from '../skills/store.ts'
import { conversationStore, type ConversationStore } from '../store.ts'
import { firstTitle, usualTitle } from '../title.ts'
import { runJob, startTopic } from '../topics.ts'
import type { Progress } from './progress.ts'
import * as workspace from './repository.ts'
import type { StartTaskRow, StartTaskStore } from './store.ts'

/** What a start ends in: the conversation with its first events. */

export interface ConversationParts {
  store: StartTaskStore
  conversations: ConversationStore
  sandboxes: Sandboxes
  settings: SettingsService
  skills: SkillStore
  seal: Seal
  jobs: Jobs
  wake: Wake
  clock: Clock
}

/** Its own folder in a sandbox that it shares; a child works where its parent does. */
export async function workingDir(
  { conversations, sandboxes }: Pick<ConversationParts, 'conversations' | 'sandboxes'>,
  task: StartTaskRow,
): Promise<string> {
  const parent = task.request.parent_conversation_id
  if (parent !== null) {
    const row = await conversations.get(task.owner_id, parent)
    if (row !== undefined) return row.working_dir
  }
  if (task.sandbox_id === null) throw new Error('the start has no sandbox')
  const workspace = sandboxes.workspaceOf(task.sandbox_id)
  const root = task.made_sandbox ? projectIn(workspace) : `${workspace}/${task.conversation_id.replaceAll('-', '')}`
  const repository = task.request.selected_repository?.split('/')[1]
  return repository === undefined ? root : `${root}/${repository}`
}

/** The conversation, its first events, the end of the task and the first run: all of it or nothing. */
export async function makeConversation(parts: ConversationParts, progress: Progress, hands: Hands): Promise<void> {
  const { task, known } = progress
  const { store, settings, seal, jobs, wake, clock, sandboxes } = parts
  const owner = task.owner_id
  const [dir, stored, staged, affinity] = await Promise.all([
    workingDir(parts, task),
    (known.settings ??= settings.stored(owner)),
    parts.skills.staged(task.id),
    sandboxes.keeper(task.sandbox_id),
  ])
  const handed = task.sealed === null ? {} : await openSecrets(seal, task, task.sealed)
  const sealed: SealedConfig = sealedOf(stored, handed)
  const place = `conversation.sealed_config.${task.conversation_id}`
  const [base, sealedText, browser] = await Promise.all([
    known.empty === true ? null : workspace.baseCommit(hands, dir),
    seal.close(owner, place, JSON.stringify(sealed)),
    (known.browser ??= browserIn(hands)),
    (known.history ??= isGiven(task) ? undefined : workspace.makeHistory(hands, dir)),
  ])
  const config = { ...configOf(stored, task.request, staged ?? noExtensions), browser }

  await progress.written()
  await store.transaction(async (rows, tx) => {
    // Ends the task first: from here on nobody can queue a message that this transaction does not see.
    const ready = await rows.pass(task.id, { passed: [{ status: 'READY', at: clock.now() }] })
    if (ready === undefined) throw new workspace.StartFailed('the start was cancelled')
    const queued = await rows.queued(task.id)
    const events = firstEvents(task, queued, config)
    const wants = events.some((event) => event.kind === 'MessageEvent' && event.run !== false)
    const made = await conversationStore(tx).insert({
      id: task.conversation_id,
      owner_id: owner,
      sandbox_id: task.sandbox_id,
      parent_id: task.request.parent_conversation_id,
      forked_from_id: null,
      title: task.request.title ?? firstTitle(task.request.initial_message) ?? usualTitle(task.conversation_id),
      title_given: task.request.title !== null,
      selected_repository: task.request.selected_repository,
      selected_branch: task.request.selected_branch,
      git_provider: task.request.git_provider,
      trigger: task.request.trigger,
      pr_number: task.request.pr_number,
      llm_model: config.llm.model,
      agent_type: task.request.agent_type,
      public: task.request.public,
      tags: task.request.tags ?? {},
      working_dir: dir,
      base_commit: base,
      config,
      sealed_config: sealedText,
      created_at: task.created_at,
      updated_at: clock.now(),
    })
    if (!made) throw new workspace.StartFailed('a conversation with this id exists')
    // What was queued comes last and keeps its id, by which a message that is sent again is known.
    const spokenFrom = events.length - queued.length
    const log = events.map((event, n) => newRow(event, queued[n - spokenFrom]?.id ?? clock.id(), clock.now()))
    await logStore(tx).append(task.conversation_id, log, { wants, revives: [] })
    if (queued.length > 0) await rows.dequeue(task.id)
    if (staged !== undefined) await skillStore(tx).unstage(task.id)
    if (wants) await jobs.spawn(tx, { kind: runJob, key: task.conversation_id, input: null, affinity })
  })
  wake.tell(startTopic(task.id))
}

/** Else the workspace is made by us; that of a child was made for its parent. */
const isGiven = ({ request }: StartTaskRow): boolean =>
  request.parent_conversation_id !== null || (request.selected_repository !== null && request.git_provider !== null)

type Spoken = Pick<ConversationConfig, 'skills' | 'user_message_suffix'>

function firstEvents(task: StartTaskRow, queued: { content: unknown }[], config: Spoken): NewEvent[] {
  const notices = task.notices.map((said): NewEvent => ({
    kind: 'NoticeEvent',
    source: 'environment',
    code: said.code,
    detail: said.detail,
    level: said.level,
  }))
  const first = withParameters(task.request.initial_message, task.request.plugins ?? [])
  const messages = [
    ...(first === null ? [] : [first.content]),
    // Checked by the contract when it was queued.
    ...queued.map((message) => message.content as NonNullable<StartTaskRow['request']['initial_message']>['content']),
  ]
  return [...notices, ...spoken(messages, config)]
}

/** Each message with the skills that it is the first to mention. */
function spoken(
  messages: readonly UserMessage['llm_message']['content'][],
  { skills, user_message_suffix }: Spoken,
): NewEvent[] {
  const known = new Set<string>()
  return messages.map((content) => {
    const said: UserMessage = {
      kind: 'MessageEvent',
      source: 'user',
      llm_message: { role: 'user', content },
      run: true,
    }
    const event = withSkills(said, skills, known)
    for (const name of event.activated_skills ?? []) known.add(name)
    return withSuffix(event, user_message_suffix)
  })
}

export async function openSecrets(
  seal: Seal,
  task: StartTaskRow,
  sealed: string,
): Promise<Record<string, SecretSource>> {
  // Closed by us from a checked request.
  return JSON.parse(await seal.open(task.owner_id, `start_task.sealed.${task.id}`, sealed)) as Record<
    string,
    SecretSource
  >
}
