import type { ChildReport, Children, ChildTask } from '@parley/agent/delegate/children'
import { Interrupted, PauseRequested } from '@parley/agent/loop/stop'
import type { NewEvent, Usage } from '@parley/contract/events'
import { canonicalId } from '@parley/contract/id'
import { newRow, record } from '../log/record.ts'
import { logStore } from '../log/store.ts'
import { total } from '../metrics.ts'
import { eventsTopic, inboxTopic } from '../topics.ts'
import { mostWords, saidBy } from '../words.ts'
import type { ChildRow } from './child-store.ts'
import { ask, begunOf, type ChildParts, ends, goOn, idOf, type Parent, start } from './children-begin.ts'

/*
 * Sub-agents of a conversation's agent: conversations of their own, in the parent's sandbox and folder, with its settings,
 * secrets and policies as they were when it began. They are made and asked to run in one transaction, and run as every
 * conversation does, so they go on when the parent's worker dies.
 */

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
  const known = task.continues ?? idOf(parent.row.id, task.key)
  const id = canonicalId(known) ?? known
  const child = await parts.children.child(id)
  if (task.continues !== null && child?.parent_id !== parent.row.id) throw new Error(`it has no sub-agent ${known}`)
  if (child === undefined || (task.continues !== null && begunOf(child)?.key !== task.key)) {
    signal.throwIfAborted()
    if (!mayStart) throw new Error('too many sub-agents are at work here; do this part yourself, or try again later')
    await (child === undefined ? start(parts, parent, { ...task, id }) : goOn(parts, parent, child, task))
  }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(longestMs)])
  try {
    return await reported(parts, await rested(parts, id, limit, waits), task.key)
  } catch (error) {
    // It ends its step, and goes on when the parent asks again.
    if (signal.reason instanceof PauseRequested) await tell(parts, id, { kind: 'PauseEvent', ...byParent })
    if (!limit.aborted || (signal.aborted && !(signal.reason instanceof Interrupted))) throw error
    await tell(parts, id, { kind: 'InterruptEvent', source: 'user' })
    const row = await rested(parts, id, AbortSignal.timeout(stopMs), () => {}).catch(() => parts.children.child(id))
    if (row === undefined) throw error
    return reported(parts, row, task.key)
  }
}

/** Its row once nothing more happens by itself. Rejects with the signal's reason, or when it is gone. */
async function rested(
  parts: ChildParts,
  id: string,
  signal: AbortSignal,
  waits: (id: string) => void,
): Promise<ChildRow> {
  let before: ChildRow | undefined
  for (;;) {
    signal.throwIfAborted()
    const row = await parts.children.child(id)
    if (row === undefined) throw new Error('its conversation was deleted')
    if (!row.at_work && rests.has(row.execution_status)) {
      if (!(await pausedByParent(parts, row))) return row
      await ask(parts, row, { kind: 'ConversationStateUpdateEvent', source: 'user', key: 'run_requested', value: true })
    }
    const waiting = row.execution_status === 'waiting_for_confirmation'
    if (waiting && before?.execution_status !== 'waiting_for_confirmation') waits(id)
    before = row
    await parts.wake.wait(eventsTopic(id), { signal, timeoutMs: lookEveryMs })
    await new Promise((resolve) => setTimeout(resolve, apartMs))
  }
}

/** Idle is what a refused action leaves. */
const rests: ReadonlySet<ChildRow['execution_status']> = new Set([...ends, 'idle'])

const byParent = { source: 'user', reason: 'parent' } as const

/** One that its parent has paused goes on with it; one that the user has paused rests. */
async function pausedByParent({ insights }: ChildParts, row: ChildRow): Promise<boolean> {
  if (row.execution_status !== 'paused') return false
  const newest = (await insights.newest(row.conversation_id, lookBack)).map(record)
  const stop = newest.find((event) => event.kind === 'PauseEvent' || event.kind === 'InterruptEvent')
  return stop?.kind === 'PauseEvent' && stop.reason === byParent.reason
}

const lookBack = 100

/** To its run; one that waits for a person or rests is left alone. */
async function tell({ database, children, wake, clock }: ChildParts, id: string, event: NewEvent): Promise<void> {
  if ((await children.child(id))?.at_work !== true) return
  await logStore(database).append(id, [newRow(event, clock.id(), clock.now())], { wants: false, revives: [] })
  wake.tell(inboxTopic(id))
  wake.tell(eventsTopic(id))
}

async function reported({ insights }: ChildParts, row: ChildRow, key: string): Promise<ChildReport> {
  const id = row.conversation_id
  const begun = begunOf(row)
  const before = begun?.key === key ? begun.metrics : null
  const { accumulated_cost, accumulated_token_usage: used, model_name: model } = total(row.metrics)
  const words = (await insights.lastWords(id, mostWords)).map(record)
  const response = words.map(saidBy).find((said) => said !== null) ?? null
  const status = ends.includes(row.execution_status) ? (row.execution_status as ChildReport['status']) : 'idle'
  const since = (field: keyof Usage): number =>
    Math.max(0, (used?.[field] ?? 0) - (before?.accumulated_token_usage?.[field] ?? 0))
  const usage = {
    prompt_tokens: since('prompt_tokens'),
    completion_tokens: since('completion_tokens'),
    cache_read_tokens: since('cache_read_tokens'),
    cache_write_tokens: since('cache_write_tokens'),
    reasoning_tokens: since('reasoning_tokens'),
  }
  const cost = Math.max(0, accumulated_cost - (before?.accumulated_cost ?? 0))
  const reason = row.status_reason?.detail ?? (status === 'paused' ? 'the user stopped it' : null)
  return { id, status, response, reason, model, usage, cost }
}
