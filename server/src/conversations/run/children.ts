import { createHash } from 'node:crypto'
import type { ChildReport, Children, ChildTask } from '@parley/agent/delegate/children'
import { agentKinds } from '@parley/agent/delegate/kinds'
import { Interrupted } from '@parley/agent/loop/stop'
import { childText } from '@parley/agent/prompts/child'
import type { NewEvent } from '@parley/contract/events'
import type { Clock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import type { Jobs } from '@parley/store/jobs'
import type { Seal } from '@parley/store/seal'
import type { Wake } from '@parley/store/wake'
import type { Sandboxes } from '../../sandboxes/service.ts'
import type { ConversationConfig } from '../config.ts'
import type { InsightStore } from '../insight-store.ts'
import { newRow, record } from '../log/record.ts'
import { logStore } from '../log/store.ts'
import { total } from '../metrics.ts'
import { resealed } from '../resealed.ts'
import { type ConversationRow, conversationStore, type ConversationStore, type HeadRow } from '../store.ts'
import { eventsTopic, inboxTopic, runJob } from '../topics.ts'
import { mostWords, saidBy } from '../words.ts'
import type { Places } from './places.ts'

/*
 * Sub-agents of a conversation's agent: conversations of their own, in the parent's sandbox and folder, with its settings,
 * secrets and policies as they were when it began. They are made and asked to run in one transaction, and run as every
 * conversation does, so they go on when the parent's worker dies.
 */

export interface ChildParts {
  database: Database
  store: ConversationStore
  /** Whoever waits for a sub-agent holds up a run of this process; so many at most, for the sub-agents need runs too. */
  helpers: Places
  insights: Pick<InsightStore, 'lastWords'>
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

const lookEveryMs = 5_000
/** Between two looks, however often the log of a sub-agent moves. */
const apartMs = 100
const stopMs = 1_500
const longestMs = 6 * 3_600_000

export const childrenOf = (parts: ChildParts, parent: Parent): Children => ({
  async work(task, signal, waits) {
    const leave = parts.helpers.take()
    try {
      return await followed(parts, parent, task, { signal, waits, mayStart: leave !== undefined })
    } finally {
      leave?.()
    }
  },
})

interface Following {
  signal: AbortSignal
  waits: (id: string) => void
  /** False: only what is at work already is waited for. */
  mayStart: boolean
}

async function followed(parts: ChildParts, parent: Parent, task: ChildTask, following: Following) {
  const { signal, waits, mayStart } = following
  const id = idOf(parent.row.id, task.key)
  if ((await parts.store.head(id)) === undefined) {
    signal.throwIfAborted()
    if (!mayStart) throw new Error('too many sub-agents are at work here; do this part yourself, or try again later')
    await start(parts, parent, { ...task, id })
  }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(longestMs)])
  try {
    return await reported(parts, id, await rested(parts, id, limit, waits))
  } catch (error) {
    if (!limit.aborted || (signal.aborted && !(signal.reason instanceof Interrupted))) throw error
    await interrupt(parts, id)
    const head = await rested(parts, id, AbortSignal.timeout(stopMs), () => {}).catch(() => parts.store.head(id))
    if (head === undefined) throw error
    return reported(parts, id, head)
  }
}

/** The same for the same work of the same parent, so that a second try finds the first one's. */
function idOf(parent: string, key: string): string {
  const hex = createHash('sha256').update(`${parent}/${key}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

async function start(parts: ChildParts, parent: Parent, task: ChildTask & { id: string }): Promise<void> {
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

/** Never more than the parent may. */
function childConfig(config: ConversationConfig, { agent, budget }: ChildTask): ConversationConfig {
  return {
    ...config,
    depth: (config.depth ?? 0) + 1,
    max_budget_per_task: budget,
    tools: agentKinds[agent] ?? config.tools ?? null,
    system_message_suffix: [config.system_message_suffix, childText].filter(Boolean).join('\n\n'),
  }
}

const messageOf = (text: string): NewEvent => ({
  kind: 'MessageEvent',
  source: 'user',
  sender: 'agent',
  llm_message: { role: 'user', content: [{ type: 'text', text, cache_prompt: false }] },
  run: true,
})

type Head = HeadRow

/** Its head once nothing more happens by itself. Rejects with the signal's reason, or when it is gone. */
async function rested(
  { store, wake }: ChildParts,
  id: string,
  signal: AbortSignal,
  waits: (id: string) => void,
): Promise<Head> {
  let before: Head | undefined
  for (;;) {
    const head = await store.head(id)
    if (head === undefined) throw new Error('its conversation was deleted')
    if (atRest(head, before)) return head
    const waiting = head.execution_status === 'waiting_for_confirmation'
    if (waiting && before?.execution_status !== 'waiting_for_confirmation') waits(id)
    before = head
    await wake.wait(eventsTopic(id), { signal, timeoutMs: lookEveryMs })
    await new Promise((resolve) => setTimeout(resolve, apartMs))
  }
}

const ends: readonly Head['execution_status'][] = ['finished', 'error', 'stuck', 'paused']

/** Idle is where it begins too; idle twice, with nothing said between, is what a refused action leaves. */
const atRest = (head: Head, before: Head | undefined): boolean =>
  ends.includes(head.execution_status) ||
  (head.execution_status === 'idle' && head.run_epoch > 0 && before?.last_seq === head.last_seq)

async function interrupt({ database, wake, clock }: ChildParts, id: string): Promise<void> {
  const event = newRow({ kind: 'InterruptEvent', source: 'user' }, clock.id(), clock.now())
  await logStore(database).append(id, [event], { wants: false, revives: [] })
  wake.tell(inboxTopic(id))
  wake.tell(eventsTopic(id))
}

async function reported({ insights }: ChildParts, id: string, head: Head): Promise<ChildReport> {
  const { accumulated_cost: cost, accumulated_token_usage: used, model_name: model } = total(head.metrics)
  const words = (await insights.lastWords(id, mostWords)).map(record)
  const response = words.map(saidBy).find((said) => said !== null) ?? null
  const status = ends.includes(head.execution_status) ? (head.execution_status as ChildReport['status']) : 'idle'
  const usage = {
    prompt_tokens: used?.prompt_tokens ?? 0,
    completion_tokens: used?.completion_tokens ?? 0,
    cache_read_tokens: used?.cache_read_tokens ?? 0,
    cache_write_tokens: used?.cache_write_tokens ?? 0,
    reasoning_tokens: used?.reasoning_tokens ?? 0,
  }
  const reason = head.status_reason?.detail ?? (status === 'paused' ? 'the user stopped it' : null)
  return { id, status, response, reason, model, usage, cost }
}
