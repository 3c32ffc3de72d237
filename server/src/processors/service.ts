import type { Processor } from '@parley/contract/processors'
import type { Clock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import type { Jobs, Kind } from '@parley/store/jobs'
import type { Git } from '../git/service.ts'
import { named, type Rounds, rounds } from '../stirs.ts'
import { forge } from './forge.ts'
import { logging } from './logging.ts'
import type { Work } from './processor.ts'
import { type ReadParts, readLog } from './read.ts'
import { processorStore, type ProcessorStore } from './store.ts'
import { title, type TitleParts } from './title.ts'

/*
 * Callback processors read the log of a conversation behind its run, each event once and in order. How far they are is a row;
 * what wakes them is a hint. So a crash costs them nothing but time, and they cost a run nothing.
 */

export const processJob = 'process-events'

export interface ProcessorParts extends Omit<TitleParts, 'subjects'>, Pick<ReadParts, 'subjects' | 'logs' | 'within'> {
  store: ProcessorStore
  git: Git
  clock: Clock
  log: (message: string, details?: Record<string, unknown>) => void
  note: (message: string, details: Record<string, unknown>) => void
}

/** Every kind, what it does, and the kind of event it is for. */
export function processorTable(parts: ProcessorParts): Record<Processor['kind'], { work: Work; on: string }> {
  return {
    SetTitleCallbackProcessor: { work: title(parts), on: 'MessageEvent' },
    LoggingCallbackProcessor: { work: logging(parts.note), on: 'MessageEvent' },
    ForgeV1CallbackProcessor: { work: forge(parts), on: 'ConversationStateUpdateEvent' },
    // A start with it is refused while no chat can be connected.
    ChatV1CallbackProcessor: { work: noChat, on: 'ConversationStateUpdateEvent' },
  }
}

const noChat: Work = async () => ({ status: 'ERROR', detail: 'No chat is connected.', becomes: 'DISABLED' })

export const processJobKind = (parts: ProcessorParts): Kind => {
  const table = processorTable(parts)
  return { attempts: 20, backoffMs: 1_000, concurrency: 50, run: (job) => readLog({ ...parts, table }, job) }
}

/** A round without a hint: for what was appended where nobody listened, and what was left by a crash. */
const everyMs = 10_000
const gapMs = 30
const mostAtOnce = 500

/** Spawns the job of each conversation whose processors are behind its log. */
export function watchLogs({
  store,
  jobs,
  database,
  heard,
  log,
}: {
  store: ProcessorStore
  jobs: Jobs
  database: Database
  heard: (fn: (topic: string) => void) => () => void
  log: ProcessorParts['log']
}): Pick<Rounds, 'stop'> {
  let stirred = new Set<string>()
  let lookedAt = 0
  const round = async () => {
    const some = [...stirred]
    stirred = new Set()
    const all = Date.now() - lookedAt >= everyMs || some.length > mostAtOnce
    if (all) lookedAt = Date.now()
    if (!all && some.length === 0) return
    for (const key of await store.behind(all ? null : some, mostAtOnce))
      await jobs.spawn(database, { kind: processJob, key, input: null })
  }
  const going = rounds({
    round,
    everyMs,
    gapMs,
    failed: (error) => log('The processors could not be looked after; it is tried again.', { error }),
  })
  const off = heard((topic) => {
    const conversation = named(topic, 'events')
    if (conversation === undefined) return
    stirred.add(conversation)
    going.poke()
  })
  return {
    stop() {
      off()
      return going.stop()
    },
  }
}

/** For a conversation that no start has made, in the transaction that makes it: its first message gives it a title. */
export const readFromNowOn = (tx: Database, conversation: string): Promise<void> =>
  processorStore(tx).begin(conversation)
