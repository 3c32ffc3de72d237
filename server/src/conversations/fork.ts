import { posix } from 'node:path'
import type { ForkRequest } from '@parley/contract/conversation-insight'
import type { NewEvent } from '@parley/contract/events'
import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'
import type { Seal } from '@parley/store/seal'
import type { Sandboxes } from '../sandboxes/service.ts'
import type { Snapshot } from './checkpoints/read.ts'
import type { Checkpoints } from './checkpoints/save.ts'
import type { LogStore } from './log/store.ts'
import { resealed } from './resealed.ts'
import { installGitHooks } from './start/repository.ts'
import type { ConversationRow, ConversationStore, HeadRow, Whole } from './store.ts'

/*
 * Another way from a point of the log: the same events up to there, and a copy of the workspace as it is now, in the same
 * sandbox. When that cannot be reached, the last checkpoint of the workspace in a new one. An action whose result lies behind
 * the point counts as interrupted, as after a crash.
 */

interface Parts {
  store: ConversationStore
  logs: LogStore
  sandboxes: Sandboxes
  seal: Seal
  clock: Clock
  checkpoints: Checkpoints
  /** Appends to the log of a conversation. */
  tell: (conversation: string, event: NewEvent) => Promise<void>
}

const copyMs = 120_000
const copyScript = 'mkdir -p -- "$(dirname -- "$2")" && cp -a -- "$1" "$2"'

/** Resolves with the id of the new conversation, which is idle. */
export const forker =
  (parts: Parts) =>
  async (parent: Whole, request: ForkRequest, signal: AbortSignal, once?: string): Promise<string> => {
    const { store, logs, seal, clock } = parts
    const id = request.conversation_id ?? once ?? clock.id()
    const before = once === undefined ? undefined : await store.get(parent.owner_id, id)
    if (before?.forked_from_id === parent.id) return id
    const seq = await pointOf(logs, parent, request)
    if ((await store.taken(id)) !== 'free') throw new Problem('conversation_exists')
    const row = await store.forWork(parent.id)
    if (row === undefined) throw new Problem('not_found')
    const saved = (await parts.sandboxes.usable(parent.sandbox_id))
      ? undefined
      : await parts.checkpoints.open(parent.id)
    const place =
      saved === undefined ? await copied(parts, parent, id, signal) : await restored(parts, parent, saved, signal)
    const title = request.title ?? `${row.title} (fork)`
    const made = await store.fork(
      { ...own(row), ...(await resealed(seal, row, id)), ...place, id, title, now: clock.now() },
      parent.id,
      seq,
    )
    if (!made && saved !== undefined) await parts.sandboxes.discard(place.sandbox_id)
    if (!made) throw new Problem('conversation_exists')
    if (saved !== undefined) {
      await parts.checkpoints.copy(saved.id, id)
      await parts.tell(id, restoredNotice(saved.checkpoint.at, parent.working_dir, place.working_dir))
    }
    return id
  }

interface Place {
  sandbox_id: string
  working_dir: string
}

async function copied({ sandboxes }: Parts, parent: Whole, id: string, signal: AbortSignal): Promise<Place> {
  const hands = await sandboxes.hands(parent.owner_id, parent.sandbox_id, signal)
  const { workspace } = hands.layout
  const working_dir = `${workspace}/${id.replaceAll('-', '')}/${posix.basename(parent.working_dir)}`
  const args = [parent.working_dir, working_dir]
  const done = await hands.run({ script: copyScript, args, timeoutMs: copyMs, signal })
  if (done.timedOut) throw new Problem('upstream_timeout', 'The workspace could not be copied in time.')
  if (done.code !== 0)
    throw new Problem('sandbox_error', `The workspace could not be copied: ${done.stderr.trim().slice(0, 1_000)}`)
  return { sandbox_id: parent.sandbox_id ?? '', working_dir }
}

/** In the same directory as before, which is what the log speaks of, where every workspace lies in the same place. */
async function restored(parts: Parts, parent: Whole, saved: Snapshot, signal: AbortSignal): Promise<Place> {
  const { sandboxes, clock, checkpoints } = parts
  const { owner_id: owner, git_provider: kind, selected_repository: repository } = parent
  const { id } = await sandboxes.place({ owner, sandboxId: null, newId: clock.id() })
  try {
    if (kind !== null && repository !== null) await sandboxes.allow(id, kind, repository)
    await sandboxes.ready(id, signal)
    const hands = await sandboxes.hands(owner, id, signal)
    const dir = movedTo(hands.layout.workspace, parent.working_dir)
    await checkpoints.restore(saved, { hands, dir, signal })
    await installGitHooks(hands, dir)
    return { sandbox_id: id, working_dir: dir }
  } catch (error) {
    await sandboxes.discard(id)
    throw error
  }
}

/** Its path below a workspace, in another one: all end with the same name, and a path below has no slash after that. */
function movedTo(workspace: string, dir: string): string {
  const at = dir.lastIndexOf('/workspace/')
  return at < 0 ? dir : workspace + dir.slice(at + '/workspace'.length)
}

const restoredNotice = (at: string, before: string, now: string): NewEvent => ({
  kind: 'NoticeEvent',
  source: 'environment',
  code: 'workspace_restored',
  detail:
    `This is a new sandbox with the files of the workspace as they were at ${at}. ` +
    'Programs that were installed and large files that git ignores have to be made again.' +
    (before === now ? '' : ` The working directory is now ${now}; there is no ${before} any more.`),
  level: 'info',
})

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
