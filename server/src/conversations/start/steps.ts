import { browserIn } from '@parley/agent/browser/launch'
import { settingsServers } from '@parley/agent/mcp/config'
import { withParameters } from '@parley/agent/plugins/parameters'
import { type UserMessage, withSkills, withSuffix } from '@parley/agent/skills/activate'
import { givenSkills } from '@parley/agent/skills/given'
import type { NewEvent } from '@parley/contract/events'
import type { GitProvider } from '@parley/contract/git-provider'
import type { SecretSource } from '@parley/contract/secret-sources'
import type { Hands } from '@parley/sandbox/driver'
import type { Clock } from '@parley/store/clock'
import type { Jobs } from '@parley/store/jobs'
import type { Seal } from '@parley/store/seal'
import type { Wake } from '@parley/store/wake'
import type { Git } from '../../git/service.ts'
import type { Limits } from '../../limits.ts'
import type { Sandboxes } from '../../sandboxes/service.ts'
import { builtInSpec } from '../../sandboxes/service.ts'
import type { SecretsService } from '../../secrets/service.ts'
import type { SettingsService } from '../../settings/service.ts'
import { type ConversationConfig, configOf, modelOf, type SealedConfig, sealedOf } from '../config.ts'
import { newRow } from '../log/record.ts'
import { logStore } from '../log/store.ts'
import type { CommonRepositories } from '../skills/common-repositories.ts'
import { loadExtensions, noExtensions } from '../skills/load.ts'
import { type SkillStore, skillStore } from '../skills/store.ts'
import { conversationStore, type ConversationStore } from '../store.ts'
import { firstTitle, usualTitle } from '../title.ts'
import { runJob, startTopic } from '../topics.ts'
import { lastLines } from './command.ts'
import { pickSandbox } from './group.ts'
import { outputOf } from './output.ts'
import * as workspace from './repository.ts'
import type { StartTasks } from './start-tasks.ts'
import type { Known, Step, Working } from './start.ts'
import type { StartTaskRow, StartTaskStore } from './store.ts'

/** What each public status of a start does. */

export interface StepParts {
  store: StartTaskStore
  conversations: ConversationStore
  tasks: StartTasks
  sandboxes: Sandboxes
  settings: SettingsService
  skills: SkillStore
  git: Git
  common: CommonRepositories
  secrets: Pick<SecretsService, 'values'>
  seal: Seal
  jobs: Jobs
  wake: Wake
  clock: Clock
  limits: Limits
}

type Aloud = Parameters<typeof workspace.clone>[2]

export function startSteps(parts: StepParts): Record<Working, Step> {
  const { sandboxes, settings, git, tasks, limits } = parts

  const hands = (task: StartTaskRow, signal: AbortSignal, known: Known): Promise<Hands> =>
    (known.hands ??= sandboxes.hands(task.owner_id, task.sandbox_id, signal))

  /** Does something long, which whoever watches the start can read along. */
  async function aloud<T>(task: StartTaskRow, signal: AbortSignal, act: (bounds: Aloud) => Promise<T>): Promise<T> {
    const handed = task.sealed === null ? {} : await openSecrets(parts.seal, task, task.sealed)
    const output = await outputOf(parts, task, handed)
    const timeoutMs = limits.start.steps[task.status as Working] // of a step that runs
    try {
      return await act({ timeoutMs, signal, hear: output.hear })
    } finally {
      await output.end()
    }
  }

  return {
    async WORKING(task) {
      if (task.sandbox_id !== null) return
      const stored = await settings.stored(task.owner_id)
      const strategy = stored.sandbox_grouping_strategy
      // A policy of its own is no reason to change that of others.
      const joins = task.request.egress_policy === null ? strategy : 'NO_GROUPING'
      const asked = task.request.sandbox_id ?? (await pickSandbox(parts, task.owner_id, joins))
      // Named by the task, so that a second try finds the first one's.
      const image = stored.sandbox_runtime_container_image || stored.sandbox_base_container_image || null
      const spec = sandboxes.specFor(image)
      const placed = await sandboxes.place({ owner: task.owner_id, sandboxId: asked, newId: task.id, spec })
      await tasks.pass(task.id, 'WORKING', { sandbox_id: placed.id, made_sandbox: placed.id === task.id })
    },

    async WAITING_FOR_SANDBOX(task, signal) {
      if (task.sandbox_id === null) throw new Error('the start has no sandbox')
      const { selected_repository: repository, git_provider: kind } = task.request
      if (repository !== null && kind !== null) await sandboxes.allow(task.sandbox_id, kind, repository)
      await sandboxes.ask(task.sandbox_id, task.request.egress_policy ?? 'settings')
      await sandboxes.ready(task.sandbox_id, signal, {
        tell: (line) => void tasks.tell(task.id, task.status, line).catch(() => {}),
      })
    },

    async PREPARING_REPOSITORY(task, signal, known) {
      if (task.request.parent_conversation_id !== null) return
      const dir = await workingDir(parts, task)
      const { selected_repository: repository, selected_branch: branch, git_provider: kind } = task.request
      if (repository === null || kind === null) {
        known.empty = await workspace.makeWorkspace(await hands(task, signal, known), dir)
        return
      }
      const { url } = await git.cloneSource(task.owner_id, kind, repository)
      const newBranch = `parley-workspace-${task.conversation_id.slice(-8)}`
      const inside = await hands(task, signal, known)
      await aloud(task, signal, (bounds) => workspace.clone(inside, { dir, url, branch, newBranch }, bounds))
    },

    async RUNNING_SETUP_SCRIPT(task, signal, known) {
      if (task.request.parent_conversation_id !== null || known.empty === true) return
      const dir = await workingDir(parts, task)
      const inside = await hands(task, signal, known)
      const said = await aloud(task, signal, (bounds) => workspace.runSetupScript(inside, dir, task.id, bounds))
      if (said === undefined) return
      const how = said.code === null ? 'took too long' : `ended with code ${said.code}`
      const text = `${said.script} ${how}.\n${said.tail}`
      if (said.code === 0) return void (await notice(parts, task, 'setup_script', text, 'info'))
      if ((await settings.stored(task.owner_id)).setup_script_required)
        throw new workspace.StartFailed(`${said.script} ${how}:\n${lastLines(said.tail)}`)
      await notice(parts, task, 'setup_script_failed', text, 'warning')
    },

    async SETTING_UP_GIT_HOOKS(task, signal, known) {
      if (task.request.parent_conversation_id !== null || known.empty === true) return
      await workspace.installGitHooks(await hands(task, signal, known), await workingDir(parts, task))
    },

    async SETTING_UP_SKILLS(task, signal, known) {
      const { selected_repository: repository, git_provider: kind } = task.request
      const stored = await settings.stored(task.owner_id)
      const wanted = {
        dir: await workingDir(parts, task),
        empty: known.empty === true,
        model: modelOf(stored, task.request),
        plugins: task.request.plugins ?? [],
        common: repository === null || kind === null ? [] : await parts.common(task.owner_id, kind, repository),
        own: givenSkills(stored.agent_settings?.agent_context?.skills ?? []),
        disabled: stored.disabled_skills ?? [],
        referable: {
          profiles: Object.keys(stored.agent_settings?.llm_profiles ?? {}),
          servers: Object.keys(settingsServers(stored.mcp_config)).length > 0,
        },
        forge: async (of: GitProvider, name: string) => (await git.cloneSource(task.owner_id, of, name)).url,
      }
      const extensions = await loadExtensions(await hands(task, signal, known), wanted, signal)
      if (extensions.problems.length > 0)
        await notice(parts, task, 'skills_skipped', `Not loaded:\n${extensions.problems.join('\n')}`, 'warning')
      const { skills, plugins, agents, hooks } = extensions
      if (skills.length + plugins.length + agents.length > 0 || hooks !== null)
        await parts.skills.stage(task.id, extensions)
    },

    STARTING_CONVERSATION: async (task, signal, known) => begin(parts, task, await hands(task, signal, known), known),
  }
}

/** Its own folder in a sandbox that it shares; a child works where its parent does. */
async function workingDir({ conversations }: StepParts, task: StartTaskRow): Promise<string> {
  const parent = task.request.parent_conversation_id
  if (parent !== null) {
    const row = await conversations.get(task.owner_id, parent)
    if (row !== undefined) return row.working_dir
  }
  const root = task.made_sandbox ? builtInSpec.workingDir : `/workspace/${task.conversation_id.replaceAll('-', '')}`
  const repository = task.request.selected_repository?.split('/')[1]
  return repository === undefined ? root : `${root}/${repository}`
}

async function notice(
  { tasks }: StepParts,
  task: StartTaskRow,
  code: string,
  detail: string,
  level: 'info' | 'warning',
) {
  await tasks.pass(task.id, task.status, { notice: { code, detail, level } })
}

/** The conversation, its first events, the end of the task and the first run: all of it or nothing. */
async function begin(parts: StepParts, task: StartTaskRow, hands: Hands, known: Known): Promise<void> {
  const { store, settings, seal, jobs, wake, clock, sandboxes } = parts
  const owner = task.owner_id
  const [dir, stored, staged, fresh = task, affinity] = await Promise.all([
    workingDir(parts, task),
    settings.stored(owner),
    parts.skills.staged(task.id),
    store.get(task.id),
    sandboxes.keeper(task.sandbox_id),
  ])
  const handed = task.sealed === null ? {} : await openSecrets(seal, task, task.sealed)
  const sealed: SealedConfig = sealedOf(stored, handed)
  const place = `conversation.sealed_config.${task.conversation_id}`
  const [base, sealedText, browser] = await Promise.all([
    known.empty === true ? null : workspace.baseCommit(hands, dir),
    seal.close(owner, place, JSON.stringify(sealed)),
    browserIn(hands),
  ])
  const config = { ...configOf(stored, task.request, staged ?? noExtensions), browser }

  await store.transaction(async (rows, tx) => {
    // Ends the task first: from here on nobody can queue a message that this transaction does not see.
    if ((await rows.pass(task.id, 'READY')) === undefined) throw new workspace.StartFailed('the start was cancelled')
    const queued = await rows.queued(task.id)
    const events = firstEvents(fresh, queued, config)
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
    await rows.dequeue(task.id)
    if (staged !== undefined) await skillStore(tx).unstage(task.id)
    if (wants) await jobs.spawn(tx, { kind: runJob, key: task.conversation_id, input: null, affinity })
  })
  wake.tell(startTopic(task.id))
}

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

async function openSecrets(seal: Seal, task: StartTaskRow, sealed: string): Promise<Record<string, SecretSource>> {
  // Closed by us from a checked request.
  return JSON.parse(await seal.open(task.owner_id, `start_task.sealed.${task.id}`, sealed)) as Record<
    string,
    SecretSource
  >
}
