import type { Who } from '@parley/contract/endpoint'
import type { ConversationInfo } from '@parley/contract/webhooks'

/** A conversation that was reported, before anything else is known of it. */
export function reportedRow(who: Who, id: string, info: ConversationInfo | null, now: string) {
  const model = info?.agent.llm.model ?? null
  const title = shown(info?.title ?? null)
  return {
    id,
    owner_id: who.owner,
    sandbox_id: who.kind === 'sandbox' ? who.id : null,
    parent_id: null,
    forked_from_id: null,
    title: title ?? `Conversation ${id.replaceAll('-', '').slice(-5)}`,
    title_given: title !== null,
    selected_repository: null,
    selected_branch: null,
    git_provider: null,
    trigger: null,
    pr_number: [],
    llm_model: model,
    agent_type: 'default' as const,
    public: null,
    tags: {},
    working_dir: info?.workspace.working_dir ?? '/workspace/project',
    base_commit: null,
    config: unconfigured(model ?? 'reported/unknown'),
    sealed_config: null,
    created_at: now,
    updated_at: now,
  }
}

/** Its agent is elsewhere: what is asked of Parley's own agent ends with the word that no key is set. */
const unconfigured = (model: string) => ({
  llm: { model },
  max_iterations: null,
  max_budget_per_task: null,
  confirmation_mode: false,
  security_analyzer: null,
  condenser_max_size: null,
  enable_default_condenser: true,
  disabled_skills: [],
  system_message_suffix: null,
  repository_notes: null,
  hook_config: null,
})

const mostTitle = 200

/** As a title of ours: one line that reads in one order. */
function shown(title: string | null): string | null {
  const line = title?.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim() ?? ''
  return line === '' ? null : [...line].slice(0, mostTitle).join('')
}

export type ReportedRow = ReturnType<typeof reportedRow>
