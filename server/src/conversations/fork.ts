import { posix } from 'node:path'
import type { ForkRequest } from '@parley/contract/conversation-insight'
import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'
import type { Seal } from '@parley/store/seal'
import type { Sandboxes } from '../sandboxes/service.ts'
import type { LogStore } from './log/store.ts'
import { resealed } from './resealed.ts'
import type { ConversationRow, ConversationStore, HeadRow, Whole } from './store.ts'

/*
 * Another way from a point of the log: the same events up to there, and a copy of the workspace as it is now, in the same
 * sandbox. An action whose result lies behind the point counts as interrupted, as after a crash.
 */

interface Parts {
  store: ConversationStore
  logs: LogStore
  sandboxes: Sandboxes
  seal: Seal
  clock: Clock
}

const copyMs = 120_000
const copyScript = 'mkdir -p -- "$(dirname -- "$2")" && cp -a -- "$1" "$2"'

/** Resolves with the id of the new conversation, which is idle. */
export const forker =
  ({ store, logs, sandboxes, seal, clock }: Parts) =>
  async (parent: Whole, request: ForkRequest, signal: AbortSignal): Promise<string> => {
    const seq = await pointOf(logs, parent, request)
    const id = request.conversation_id ?? clock.id()
    if ((await store.taken(id)) !== 'free') throw new Problem('conversation_exists')
    const row = await store.forWork(parent.id)
    if (row === undefined) throw new Problem('not_found')
    const working_dir = `/workspace/${id.replaceAll('-', '')}/${posix.basename(parent.working_dir)}`
    const hands = await sandboxes.hands(parent.owner_id, parent.sandbox_id, signal)
    const args = [parent.working_dir, working_dir]
    const copied = await hands.run({ script: copyScript, args, timeoutMs: copyMs, signal })
    if (copied.timedOut) throw new Problem('upstream_timeout', 'The workspace could not be copied in time.')
    if (copied.code !== 0)
      throw new Problem('sandbox_error', `The workspace could not be copied: ${copied.stderr.trim().slice(0, 1_000)}`)
    const made = await store.fork(
      {
        ...own(row),
        ...(await resealed(seal, row, id)),
        id,
        working_dir,
        title: request.title ?? `${row.title} (fork)`,
        now: clock.now(),
      },
      parent.id,
      seq,
    )
    if (!made) throw new Problem('conversation_exists')
    return id
  }

async function pointOf(logs: LogStore, parent: Whole, { from_event_id, from_seq }: ForkRequest): Promise<number> {
  const seq = from_event_id === null ? (from_seq ?? parent.last_seq) : await logs.seqOf(parent.id, from_event_id)
  if (seq === undefined || seq > parent.last_seq)
    throw new Problem('not_found', 'There is no such event in this conversation.')
  return seq
}

/** What a fork takes from where it came from. */
function own(row: ConversationRow & HeadRow): ConversationRow {
  return { ...row, forked_from_id: row.id, title_given: true, public: null, parent_id: null }
}
