import { confirmationEvent } from '@parley/agent/loop/confirm'
import type { ForkRequest } from '@parley/contract/conversation-insight'
import { type ConversationUpdate, type ExecutionChange } from '@parley/contract/conversations'
import type { ConversationSortOrder } from '@parley/contract/conversations'
import type { AppConversation } from '@parley/contract/conversations'
import type { ConfirmationAnswer } from '@parley/contract/event-calls'
import type { Content, NewEvent } from '@parley/contract/events'
import { conversationAllows } from '@parley/contract/execution'
import { canonicalId } from '@parley/contract/id'
import { maxPendingMessages, type PendingTarget } from '@parley/contract/pending-messages'
import { Problem } from '@parley/contract/problems'
import { sandboxAllows, sandboxRefusal, type SandboxStatus } from '@parley/contract/sandboxes'
import { startEnded } from '@parley/contract/start-tasks'
import type { Database } from '@parley/store/database'
import type { Jobs } from '@parley/store/jobs'
import type { Cursor } from '@parley/store/page'
import type { Seal } from '@parley/store/seal'
import type { Wake } from '@parley/store/wake'
import { appender } from './append.ts'
import { type BeginParts, beginner } from './begin.ts'
import type { Checkpoints } from './checkpoints/save.ts'
import { forker } from './fork.ts'
import type { Live } from './live.ts'
import type { Recent } from './log/recent.ts'
import { type LogStore, logStore } from './log/store.ts'
import type { Kept } from './run/kept.ts'
import { skillsOf } from './skills/skills.ts'
import { skillStore } from './skills/store.ts'
import { type Filters, sortColumn, type Whole } from './store.ts'
import { usualTitle } from './title.ts'
import { eventsTopic, inboxTopic } from './topics.ts'
import { viewOf } from './view.ts'
import { watcher } from './watch.ts'

// Who reads the log knows it by these.
export { record } from './log/record.ts'
export type { EventRow, LogStore } from './log/store.ts'
export type { Known, Subject, SubjectStore } from './subject-store.ts'

export interface ConversationParts extends BeginParts {
  database: Database
  jobs: Jobs
  wake: Wake
  cursor: Cursor
  kept: Kept
  live: Live
  recent: Recent
  logs: LogStore
  seal: Seal
  checkpoints: Checkpoints
  baseUrl: string
}

export type Conversations = ReturnType<typeof conversationService>

const canonical = <T>(byId: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(byId).map(([id, value]) => [canonicalId(id) ?? id, value]))

/** A title that is taken away gives its place to the usual one. */
function titled(id: string, title: string | null | undefined) {
  if (title === undefined) return {}
  return title === null ? { title: usualTitle(id), title_given: false } : { title, title_given: true }
}

function allowed(row: Whole, verb: Parameters<typeof conversationAllows>[1]): void {
  if (!conversationAllows(row.execution_status, verb))
    throw new Problem('state_conflict', `The conversation is ${row.execution_status}.`, {
      members: { current_state: row.execution_status },
    })
}

export function conversationService(parts: ConversationParts) {
  const { store, taskRows, sandboxes, wake, clock, cursor } = parts
  const view = viewOf(parts)
  const log = appender(parts)
  const { append } = log
  const fork = forker({ ...parts, tell: log.tell })
  const skills = skillsOf(skillStore(parts.database))

  async function own(owner: string, id: string): Promise<Whole> {
    const row = await store.get(owner, id)
    if (row === undefined) throw new Problem('not_found')
    return row
  }

  const sandboxOf = async (row: Whole): Promise<SandboxStatus> =>
    row.sandbox_id === null
      ? 'MISSING'
      : ((await sandboxes.statuses([row.sandbox_id])).get(row.sandbox_id)?.status ?? 'MISSING')

  async function reachable(row: Whole): Promise<'STARTING' | 'RUNNING' | 'PAUSED'> {
    const status = await sandboxOf(row)
    if (sandboxAllows(status, 'message')) return status as 'STARTING' | 'RUNNING' | 'PAUSED'
    if (sandboxRefusal(status, 'message') === 'gone')
      throw new Problem('gone', 'The sandbox of this conversation no longer exists.')
    throw new Problem('state_conflict', `The sandbox is ${status}.`, { members: { current_state: status } })
  }

  async function changed(owner: string, id: string): Promise<ExecutionChange> {
    const row = await own(owner, id)
    return { success: true, execution_status: row.execution_status, sandbox_status: await sandboxOf(row) }
  }

  return {
    ...beginner(parts),
    own,
    ...log,
    skills,
    sandboxOf,
    watch: watcher(parts),

    async get(owner: string, id: string) {
      const [one] = await view([await own(owner, id)])
      if (one === undefined) throw new Error('a row without a view')
      return one
    },

    async many(owner: string, ids: readonly string[]) {
      const rows = await store.many(owner, ids)
      const views = new Map((await view(rows)).map((one) => [one.id, one]))
      return ids.map((id) => views.get(id) ?? null)
    },

    async search(
      owner: string,
      query: Filters & { sort_order: ConversationSortOrder; page_id?: string | undefined; limit: number },
    ) {
      const { page_id, limit, sort_order, ...filters } = query
      const key = `conversations ${owner} ${sort_order} ${JSON.stringify(filters)}`
      const at = page_id === undefined ? null : cursor.read(page_id, key)
      const after = at === null ? null : { at: String(at[0]), id: String(at[1]) }
      const rows = await store.page(owner, filters, sort_order, after, limit + 1)
      const items = rows.slice(0, limit)
      const end = rows.length > limit ? items.at(-1) : undefined
      const next = end && cursor.write({ query: key, at: [end[sortColumn(sort_order)], end.id] })
      return { items: await view(items), next_page_id: next ?? null }
    },

    count: (owner: string, filters: Filters): Promise<number> => store.count(owner, filters),

    async update(
      owner: string,
      id: string,
      { title, ...change }: ConversationUpdate,
      check: (now: AppConversation) => void,
    ) {
      check(await this.get(owner, id))
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      const dropped = change.selected_repository === null ? { selected_branch: null, git_provider: null } : {}
      await store.update(id, { ...given, ...dropped, ...titled(id, title) })
      return this.get(owner, id)
    },

    /** It and its children at once; a sandbox that nobody else uses is cleared away after. */
    async remove(owner: string, id: string): Promise<{ success: true }> {
      const gone = await store.delete(owner, id)
      if (gone.length === 0) throw new Problem('not_found')
      const used = gone.flatMap((row) => (row.sandbox_id === null ? [] : [row.sandbox_id]))
      for (const one of gone) {
        wake.tell(inboxTopic(one.id))
        wake.tell(eventsTopic(one.id))
        parts.database.afterCommit(() => void parts.kept.drop(one.id).catch(() => {}))
      }
      for (const sandbox of await store.unused([...new Set(used)])) await sandboxes.drop(sandbox)
      return { success: true }
    },

    async message(owner: string, id: string, { content, run }: { content: Content[]; run: boolean }, once?: string) {
      const row = await own(owner, id)
      allowed(row, 'message')
      const said = { kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content }, run } as const
      const [status, told] = await Promise.all([reachable(row), skills.told(id, said)])
      const [stored] = await Promise.all([
        append(row, told, run, once),
        row.sandbox_id === null ? null : sandboxes.touch(row.sandbox_id),
      ])
      const note = status === 'PAUSED' && run ? 'The sandbox is resumed for it.' : null
      return { success: true as const, event_id: stored.id, seq: stored.seq, sandbox_status: status, message: note }
    },

    /** A message to a conversation that may still be starting. */
    async queue(owner: string, target: PendingTarget, content: Content[], once?: string) {
      const task =
        target.kind === 'task' ? (await taskRows.many(owner, [target.id]))[0] : await taskRows.ofConversation(target.id)
      const mine = task?.owner_id === owner ? task : undefined
      const id = once ?? clock.id()
      const position =
        mine === undefined || startEnded(mine.status)
          ? 'ended'
          : await taskRows.queue(mine.id, owner, id, content, maxPendingMessages)
      if (position === 'full') throw new Problem('too_many_pending_messages', undefined, { retryAfter: 5 })
      if (position !== 'ended') return { id, queued: true as const, position }
      const conversation = target.kind === 'conversation' ? target.id : mine?.conversation_id
      if (conversation === undefined) throw new Problem('not_found')
      const sent = await this.message(owner, conversation, { content, run: true }, once)
      return { id: sent.event_id, queued: true as const, position: 1 }
    },

    async run(owner: string, id: string, once?: string): Promise<ExecutionChange> {
      const row = await own(owner, id)
      allowed(row, 'run')
      await reachable(row)
      const event: NewEvent =
        row.execution_status === 'waiting_for_confirmation'
          ? confirmationEvent({ decision: 'accept', action_ids: null, reason: null })
          : { kind: 'ConversationStateUpdateEvent', source: 'user', key: 'run_requested', value: true }
      await append(row, event, true, once)
      return changed(owner, id)
    },

    /** Its sandbox too, when that is paused. */
    async resume(owner: string, id: string, once?: string): Promise<ExecutionChange> {
      const row = await own(owner, id)
      allowed(row, 'run')
      if (row.sandbox_id !== null && (await reachable(row)) === 'PAUSED') await sandboxes.resume(owner, row.sandbox_id)
      return this.run(owner, id, once)
    },

    async fork(
      owner: string,
      id: string,
      request: ForkRequest,
      signal: AbortSignal,
      once?: string,
    ): Promise<AppConversation> {
      return this.get(owner, await fork(await own(owner, id), request, signal, once))
    },

    async pause(owner: string, id: string, once?: string): Promise<ExecutionChange> {
      const row = await own(owner, id)
      allowed(row, 'pause')
      await append(row, { kind: 'PauseEvent', source: 'user' }, false, once)
      // No run is under way that would set it.
      if (row.execution_status !== 'running') await parts.database.transaction((tx) => logStore(tx).rest(id, 'paused'))
      return changed(owner, id)
    },

    async interrupt(owner: string, id: string, once?: string): Promise<ExecutionChange> {
      const row = await own(owner, id)
      allowed(row, 'interrupt')
      await append(row, { kind: 'InterruptEvent', source: 'user' }, false, once)
      return changed(owner, id)
    },

    async condense(owner: string, id: string, once?: string): Promise<ExecutionChange> {
      const row = await own(owner, id)
      allowed(row, 'message')
      await append(row, { kind: 'CondensationRequest', source: 'user' }, false, once)
      return changed(owner, id)
    },

    /** The actions that are named, or all that wait, go on or are refused; `edits` changes arguments of those that go on. */
    async respond(
      owner: string,
      id: string,
      { accept, reason, action_ids, edits }: ConfirmationAnswer,
      once?: string,
    ): Promise<{ success: true }> {
      const row = await own(owner, id)
      allowed(row, 'confirm')
      const answer = {
        decision: accept ? 'accept' : 'reject',
        action_ids: action_ids ?? null,
        reason: accept ? null : reason,
        ...(accept && edits !== undefined ? { edits: canonical(edits) } : {}),
      } as const
      await append(row, confirmationEvent(answer), true, once)
      return { success: true }
    },
  }
}
