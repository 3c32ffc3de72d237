import { createHash } from 'node:crypto'
import type { ChildTask } from '@parley/agent/delegate/children'
import type { NewEvent } from '@parley/contract/events'
import type { Clock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import type { Jobs } from '@parley/store/jobs'
import type { Seal } from '@parley/store/seal'
import type { Wake } from '@parley/store/wake'
import type { Sandboxes } from '../../sandboxes/service.ts'
import type { ConversationConfig } from '../config.ts'
import type { InsightStore } from '../insight-store.ts'
import { newRow } from '../log/record.ts'
import { logStore } from '../log/store.ts'
import { total } from '../metrics.ts'
import { resealed } from '../resealed.ts'
import { type ConversationRow, conversationStore } from '../store.ts'
import { eventsTopic, inboxTopic, runJob } from '../topics.ts'
import { childConfig, lesser } from './child-config.ts'
import { type ChildRow, childStore, type ChildStore } from './child-store.ts'
import type { Places } from './places.ts'

/* How sub-agents begin, and how one that rests is given more. */

export interface ChildParts {
  database: Database
  children: Pick<ChildStore, 'child'>
  /** Whoever waits for a sub-agent holds up a run of this process; so many at most, for the sub-agents need runs too. */
  helpers: Places
  insights: Pick<InsightStore, 'lastWords' | 'newest'>
  sandboxes: Pick<Sandboxes, 'keeper'>
  jobs: Pick<Jobs, 'spawn'>
  seal: Seal
  wake: Wake
  clock: Clock
}

/** Who has sub-agents. */
export interface Parent {
  row: ConversationRow
  config: ConversationConfig
  /** Hides the secrets of the conversation. */
  mask: <T>(value: T) => T
}

/** The same for the same work of the same parent, so that a second try finds the first one's. */
export function idOf(parent: string, key: string): string {
  const hex = createHash('sha256').update(`${parent}/${key}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export async function start(parts: ChildParts, parent: Parent, task: ChildTask & { id: string }): Promise<void> {
  const { clock, database, jobs, seal, wake, sandboxes } = parts
  const { row, mask } = parent
  const now = clock.now()
  const child: ConversationRow = {
    ...own(row),
    ...(await resealed(seal, row, task.id)),
    id: task.id,
    parent_id: row.id,
    title: mask(task.title),
    config: childConfig(parent.config, task),
    created_at: now,
    updated_at: now,
  }
  const message = newRow(mask(messageOf(task.prompt)), clock.id(), now)
  const affinity = await sandboxes.keeper(row.sandbox_id)
  await database.transaction(async (tx) => {
    // Somebody was first, or it was deleted meanwhile: the wait that follows tells which.
    if (!(await conversationStore(tx).insert(child))) return
    await jobs.spawn(tx, { kind: runJob, key: task.id, input: null, affinity })
    await logStore(tx).append(task.id, [message], { wants: true, revives: [] })
    tx.afterCommit(() => wake.tell(eventsTopic(row.id)))
  })
}

/** What a child takes from its parent's row: where it works, for whom and on what. */
const own = (row: ConversationRow): ConversationRow => ({
  id: row.id,
  owner_id: row.owner_id,
  sandbox_id: row.sandbox_id,
  parent_id: row.id,
  forked_from_id: null,
  title: '',
  title_given: true,
  selected_repository: row.selected_repository,
  selected_branch: row.selected_branch,
  git_provider: row.git_provider,
  trigger: row.trigger,
  pr_number: [],
  llm_model: row.llm_model,
  agent_type: 'default',
  public: null,
  tags: {},
  working_dir: row.working_dir,
  base_commit: row.base_commit,
  config: row.config,
  sealed_config: row.sealed_config,
  created_at: row.created_at,
  updated_at: row.updated_at,
})

const messageOf = (text: string): NewEvent => ({
  kind: 'MessageEvent',
  source: 'user',
  sender: 'agent',
  llm_message: { role: 'user', content: [{ type: 'text', text, cache_prompt: false }] },
  run: true,
})

// Written by us when it was begun.
const configIn = ({ config }: Pick<ChildRow, 'config'>) => config as ConversationConfig
export const begunOf = (child: Pick<ChildRow, 'config'>) => configIn(child).begun

/** More work for one that rests: said to it as a message, within a share of what is left of the budget. */
export async function goOn(parts: ChildParts, { mask }: Parent, child: ChildRow, task: ChildTask): Promise<void> {
  const metrics = total(child.metrics)
  const before = configIn(child)
  const share = lesser(task.budget, before.max_budget_per_run ?? null)
  const budget = share === null ? null : metrics.accumulated_cost + share
  const config = { ...before, max_budget_per_task: budget, begun: { key: task.key, metrics } }
  await ask(parts, child, mask(messageOf(task.prompt)), (tx) =>
    childStore(tx).setConfig(child.conversation_id, config satisfies ConversationConfig),
  )
}

export const ends: readonly ChildRow['execution_status'][] = ['finished', 'error', 'stuck', 'paused']

/** Appends what makes it run, whatever it rests in, and asks for the run. */
export async function ask(
  { database, sandboxes, jobs, clock, wake }: ChildParts,
  { conversation_id: id, sandbox_id }: ChildRow,
  event: NewEvent,
  also: (tx: Database) => Promise<void> = async () => {},
): Promise<void> {
  const row = newRow(event, clock.id(), clock.now())
  const affinity = await sandboxes.keeper(sandbox_id)
  await database.transaction(async (tx) => {
    await jobs.spawn(tx, { kind: runJob, key: id, input: null, affinity })
    await logStore(tx).append(id, [row], { wants: true, revives: ends })
    await also(tx)
  })
  wake.tell(inboxTopic(id))
  wake.tell(eventsTopic(id))
}
