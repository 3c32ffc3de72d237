import type { LlmConfig } from '@parley/agent/model/config'
import type { ExecutionStatus } from '@parley/contract/execution'
import type { GitProvider } from '@parley/contract/git-provider'
import type { Metrics } from '@parley/contract/metrics'
import type { Processor } from '@parley/contract/processors'
import type { Trigger } from '@parley/contract/start-request'
import { type Database, json } from '@parley/store/database'
import { sql } from 'kysely'
import { runJob } from './topics.ts'

/** What those who follow a conversation need to know of it. */
export interface Subject {
  id: string
  owner_id: string
  title: string
  title_given: boolean
  selected_repository: string | null
  git_provider: GitProvider | null
  pr_number: number[]
  config: { llm?: Omit<LlmConfig, 'api_key'>; max_budget_per_task?: number | null }
  sealed_config: string | null
  metrics: Record<string, Metrics>
}

/** What those who report on a conversation need to know of it. */
export interface Known {
  id: string
  owner_id: string
  sandbox_id: string | null
  tags: Record<string, string>
  trigger: Trigger | null
  metrics: Record<string, Metrics>
  execution_status: ExecutionStatus
  /** A run of Parley's own is under way, and has the last word on status and metrics. */
  is_running: boolean
}

export type SubjectStore = ReturnType<typeof subjectStore>

/** Conversations as the slices see them that follow their logs or report on them; nobody's rights are looked at here. */
export function subjectStore(database: Database) {
  return {
    async find(conversation: string): Promise<Subject | undefined> {
      const rows = await database.rows(sql<Subject>`
        select c.id, c.owner_id, c.title, c.title_given, c.selected_repository, c.git_provider, c.pr_number, c.config,
          c.sealed_config, h.metrics
        from conversation c join conversation_head h on h.conversation_id = c.id where c.id = ${conversation}`)
      return rows[0]
    },

    /** What the start request asked for, and whether a title was given. */
    async asked(conversation: string): Promise<{ processors: Processor[] | null; title_given: boolean } | undefined> {
      const rows = await database.rows(sql<{ processors: Processor[] | null; title_given: boolean }>`
        select t.request -> 'processors' as processors, c.title_given from conversation c
        left join start_task t on t.conversation_id = c.id and t.status = 'READY'
        where c.id = ${conversation} limit 1`)
      return rows[0]
    },

    /** Only when nobody has given it another title meanwhile. */
    async retitle(conversation: string, before: string, title: string): Promise<boolean> {
      const rows = await database.rows(sql`update conversation set title = ${title}, updated_at = now()
        where id = ${conversation} and not title_given and title = ${before} returning 1`)
      return rows.length > 0
    },

    async isRunning(conversation: string): Promise<boolean> {
      const rows = await database.rows(sql`select 1 from job where kind = ${runJob} and key = ${conversation}`)
      return rows.length > 0
    },

    /** The head is locked first, and what is read after that is what others have committed. */
    async lock(conversation: string): Promise<Known | undefined> {
      await database.rows(sql`select 1 from conversation_head where conversation_id = ${conversation} for update`)
      const rows = await database.rows(sql<Known>`
        select c.id, c.owner_id, c.sandbox_id, c.tags, c.trigger, h.metrics, h.execution_status,
          exists (select from job where kind = ${runJob} and key = ${conversation}) as is_running
        from conversation c join conversation_head h on h.conversation_id = c.id where c.id = ${conversation}`)
      return rows[0]
    },

    /** Whose a deleted conversation was, or one that is being started. */
    async used(conversation: string): Promise<{ owner_id: string; how: 'deleted' | 'starting' } | undefined> {
      const rows = await database.rows(sql<{ owner_id: string; how: 'deleted' | 'starting' }>`
        select owner_id, 'deleted' as how from deleted_conversation where id = ${conversation}
        union all
        select owner_id, 'starting' from start_task where conversation_id = ${conversation} and status <> 'ERROR'
        limit 1`)
      return rows[0]
    },

    async update(
      conversation: string,
      change: {
        tags: Record<string, string>
        trigger: Trigger | null
        model: string | null
        workingDir: string | null
      },
    ): Promise<void> {
      await database.rows(sql`update conversation set tags = ${json(change.tags)}, trigger = ${change.trigger},
        llm_model = coalesce(${change.model}, llm_model), working_dir = coalesce(${change.workingDir}, working_dir),
        updated_at = now() where id = ${conversation}`)
    },

    /** Null: as it is. */
    async head(
      conversation: string,
      change: { status: ExecutionStatus | null; metrics: Record<string, Metrics> | null },
    ): Promise<void> {
      const metrics = change.metrics === null ? null : JSON.stringify(change.metrics)
      await database.rows(sql`update conversation_head set
        execution_status = coalesce(${change.status}, execution_status),
        status_reason = case when ${change.status}::text is null then status_reason end,
        metrics = coalesce(${metrics}::jsonb, metrics) where conversation_id = ${conversation}`)
    },

    async moved(conversation: string): Promise<void> {
      await database.rows(sql`update conversation set updated_at = now() where id = ${conversation}`)
    },

    /** The conversations in a sandbox; null stands for one that is being started there. */
    async inSandbox(sandbox: string): Promise<(string | null)[]> {
      const rows = await database.rows(sql<{ id: string | null }>`
        select id from conversation where sandbox_id = ${sandbox}
        union all select null from start_task where sandbox_id = ${sandbox} and status not in ('READY', 'ERROR')`)
      return rows.map(({ id }) => id)
    },
  }
}
