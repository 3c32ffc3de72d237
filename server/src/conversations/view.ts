import type { AppConversation } from '@parley/contract/conversations'
import type { SandboxStatus } from '@parley/contract/sandboxes'
import type { Sandboxes } from '../sandboxes/service.ts'
import { total } from './metrics.ts'
import type { Whole } from './store.ts'

/** A row, its sandbox and its children as one answer. */

interface Parts {
  sandboxes: Sandboxes
  baseUrl: string
}

export const viewOf =
  ({ sandboxes, baseUrl }: Parts) =>
  async (rows: readonly Whole[]): Promise<AppConversation[]> => {
    const named = rows.flatMap((row) => (row.sandbox_id === null ? [] : [row.sandbox_id]))
    const seen = await sandboxes.statuses([...new Set(named)])
    return rows.map((row) => {
      const status = row.sandbox_id === null ? 'MISSING' : (seen.get(row.sandbox_id)?.status ?? 'MISSING')
      return answer(row, status, baseUrl)
    })
  }

function answer(row: Whole, status: SandboxStatus, baseUrl: string): AppConversation {
  return {
    id: row.id,
    created_by_user_id: row.owner_id,
    sandbox_id: row.sandbox_id,
    selected_repository: row.selected_repository,
    selected_branch: row.selected_branch,
    git_provider: row.git_provider,
    title: row.title,
    trigger: row.trigger,
    pr_number: row.pr_number,
    llm_model: row.llm_model,
    agent_kind: 'parley',
    agent_type: row.agent_type,
    metrics: total(row.metrics),
    parent_conversation_id: row.parent_id,
    sub_conversation_ids: row.children,
    forked_from_conversation_id: row.forked_from_id,
    public: row.public,
    tags: row.tags,
    created_at: row.created_at,
    updated_at: row.updated_at,
    sandbox_status: status,
    execution_status: status === 'RUNNING' ? row.execution_status : null,
    status_reason: row.status_reason?.detail ?? null,
    error: row.execution_status === 'error' ? row.status_reason : null,
    last_seq: row.last_seq,
    conversation_url: status === 'RUNNING' ? `${baseUrl}/api/v1/conversation/${row.id}` : null,
    session_api_key: null,
  }
}
