import type { NewEvent } from '@parley/contract/events'
import type { ExecutionStatus } from '@parley/contract/execution'
import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import type { Jobs } from '@parley/store/jobs'
import type { Wake } from '@parley/store/wake'
import type { Sandboxes } from '../sandboxes/service.ts'
import { newRow } from './log/record.ts'
import { type LogStore, logStore } from './log/store.ts'
import type { Whole } from './store.ts'
import { eventsTopic, inboxTopic, runJob } from './topics.ts'

export interface AppendParts {
  database: Database
  logs: LogStore
  jobs: Jobs
  wake: Wake
  clock: Clock
  sandboxes: Pick<Sandboxes, 'keeper'>
}

/** Statuses that a new message makes idle again. */
const revived: readonly ExecutionStatus[] = ['finished', 'error', 'stuck']

export function appender({ database, logs, jobs, wake, clock, sandboxes }: AppendParts) {
  /**
   * From outside the run, durable when it resolves; with `wants` a run is under way or will be. `once`: the id of the event,
   * which is appended one time.
   */
  async function append(
    conversation: Pick<Whole, 'id' | 'sandbox_id'>,
    event: NewEvent,
    wants: boolean,
    once?: string,
  ): Promise<{ id: string; seq: number }> {
    const { id } = conversation
    const known = once === undefined ? undefined : await logs.seqOf(id, once)
    if (once !== undefined && known !== undefined) return { id: once, seq: known }
    const row = newRow(event, once ?? clock.id(), clock.now())
    const affinity = wants ? await sandboxes.keeper(conversation.sandbox_id) : null
    const spoken = event.kind === 'MessageEvent'
    const how = { wants, revives: wants || spoken ? revived : [], moves: spoken }
    const write = async (rows: Pick<LogStore, 'append'>) => {
      const before = await rows.append(id, [row], how)
      if (before === undefined) throw new Problem('not_found')
      return before
    }
    const spawned = async (tx: Database) => {
      // The job before the head, as the end of a run does: else the two could wait for each other.
      await jobs.spawn(tx, { kind: runJob, key: id, input: null, affinity })
      return write(logStore(tx))
    }
    const base = wants ? await database.transaction(spawned) : await write(logs)
    wake.tell(inboxTopic(id))
    wake.tell(eventsTopic(id))
    return { id: row.id, seq: base + 1 }
  }

  return {
    append,

    /** What the service itself has to say. */
    async tell(id: string, event: NewEvent): Promise<void> {
      await append({ id, sandbox_id: null }, event, false)
    },
  }
}
