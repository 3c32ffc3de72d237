import { browserIn } from '@parley/agent/browser/launch'
import { settingsServers } from '@parley/agent/mcp/config'
import { givenSkills } from '@parley/agent/skills/given'
import type { GitProvider } from '@parley/contract/git-provider'
import type { Hands } from '@parley/sandbox/driver'
import type { Git } from '../../git/service.ts'
import type { Limits } from '../../limits.ts'
import type { SecretsService } from '../../secrets/service.ts'
import { modelOf } from '../config.ts'
import type { CommonRepositories } from '../skills/common-repositories.ts'
import { loadExtensions } from '../skills/load.ts'
import { lastLines } from './command.ts'
import { type ConversationParts, makeConversation, openSecrets, workingDir } from './conversation.ts'
import { pickSandbox } from './group.ts'
import { outputOf } from './output.ts'
import type { Progress } from './progress.ts'
import * as workspace from './repository.ts'
import type { Step, Working } from './start.ts'

/** What each public status of a start does. */

export interface StepParts extends ConversationParts {
  git: Git
  common: CommonRepositories
  secrets: Pick<SecretsService, 'values'>
  limits: Limits
}

type Aloud = Parameters<typeof workspace.clone>[2]

export function startSteps(parts: StepParts): Record<Working, Step> {
  const { sandboxes, git, limits } = parts

  const hands = ({ task, known }: Progress, signal: AbortSignal): Promise<Hands> =>
    (known.hands ??= sandboxes.hands(task.owner_id, task.sandbox_id, signal))
  const settingsOf = ({ task, known }: Progress) => (known.settings ??= parts.settings.stored(task.owner_id))

  /** Does something long, which whoever watches the start can read along. */
  async function aloud<T>(progress: Progress, signal: AbortSignal, act: (bounds: Aloud) => Promise<T>): Promise<T> {
    const { task } = progress
    const handed = task.sealed === null ? {} : await openSecrets(parts.seal, task, task.sealed)
    const output = await outputOf(parts, progress, handed)
    const timeoutMs = limits.start.steps[task.status as Working] // of a step that runs
    try {
      return await act({ timeoutMs, signal, hear: output.hear })
    } finally {
      await output.end()
    }
  }

  return {
    async WORKING(progress) {
      const { task } = progress
      if (task.sandbox_id !== null) return
      const stored = await settingsOf(progress)
      const strategy = stored.sandbox_grouping_strategy
      // A policy of its own is no reason to change that of others.
      const joins = task.request.egress_policy === null ? strategy : 'NO_GROUPING'
      const asked = task.request.sandbox_id ?? (await pickSandbox(parts, task.owner_id, joins))
      // Named by the task, so that a second try finds the first one's.
      const image = stored.sandbox_runtime_container_image || stored.sandbox_base_container_image || null
      const spec = sandboxes.specFor(image)
      const placed = await sandboxes.place({ owner: task.owner_id, sandboxId: asked, newId: task.id, spec })
      progress.placed(placed.id, placed.id === task.id)
    },

    async WAITING_FOR_SANDBOX(progress, signal) {
      const { task, known } = progress
      if (task.sandbox_id === null) throw new Error('the start has no sandbox')
      const { selected_repository: repository, git_provider: kind } = task.request
      if (repository !== null && kind !== null) await sandboxes.allow(task.sandbox_id, kind, repository)
      await sandboxes.ask(task.sandbox_id, task.request.egress_policy ?? 'settings')
      known.hands = sandboxes.ready(task.sandbox_id, signal, { tell: progress.tell })
      await known.hands
    },

    async PREPARING_REPOSITORY(progress, signal) {
      const { task, known } = progress
      if (task.request.parent_conversation_id !== null) return
      const dir = await workingDir(parts, task)
      const { selected_repository: repository, selected_branch: branch, git_provider: kind } = task.request
      if (repository === null || kind === null) {
        const inside = await hands(progress, signal)
        known.empty = await workspace.makeFolder(inside, dir)
        // One after the other, on the shell that is open; nobody waits for them before the conversation is made.
        known.browser = browserIn(inside)
        known.history = known.browser.then(() => workspace.makeHistory(inside, dir))
        known.history.catch(() => {}) // told there
        if (!known.empty) await known.history
        return
      }
      const { url } = await git.cloneSource(task.owner_id, kind, repository)
      const newBranch = `parley-workspace-${task.conversation_id.slice(-8)}`
      const inside = await hands(progress, signal)
      await aloud(progress, signal, (bounds) => workspace.clone(inside, { dir, url, branch, newBranch }, bounds))
    },

    async RUNNING_SETUP_SCRIPT(progress, signal) {
      const { task, known } = progress
      if (task.request.parent_conversation_id !== null || known.empty === true) return
      const dir = await workingDir(parts, task)
      const inside = await hands(progress, signal)
      const said = await aloud(progress, signal, (bounds) => workspace.runSetupScript(inside, dir, task.id, bounds))
      if (said === undefined) return
      const how = said.code === null ? 'took too long' : `ended with code ${said.code}`
      const text = `${said.script} ${how}.\n${said.tail}`
      if (said.code === 0) return progress.notice({ code: 'setup_script', detail: text, level: 'info' })
      if ((await settingsOf(progress)).setup_script_required)
        throw new workspace.StartFailed(`${said.script} ${how}:\n${lastLines(said.tail)}`)
      progress.notice({ code: 'setup_script_failed', detail: text, level: 'warning' })
    },

    async SETTING_UP_GIT_HOOKS(progress, signal) {
      const { task, known } = progress
      if (task.request.parent_conversation_id !== null || known.empty === true) return
      await workspace.installGitHooks(await hands(progress, signal), await workingDir(parts, task))
    },

    async SETTING_UP_SKILLS(progress, signal) {
      const { task, known } = progress
      const { selected_repository: repository, git_provider: kind } = task.request
      const stored = await settingsOf(progress)
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
      const extensions = await loadExtensions(await hands(progress, signal), wanted, signal)
      const skipped = `Not loaded:\n${extensions.problems.join('\n')}`
      if (extensions.problems.length > 0) progress.notice({ code: 'skills_skipped', detail: skipped, level: 'warning' })
      const { skills, plugins, agents, hooks } = extensions
      if (skills.length + plugins.length + agents.length > 0 || hooks !== null)
        await parts.skills.stage(task.id, extensions)
    },

    STARTING_CONVERSATION: async (progress, signal) => makeConversation(parts, progress, await hands(progress, signal)),
  }
}
