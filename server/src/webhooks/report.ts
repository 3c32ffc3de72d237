import { masker } from '@parley/agent/mask'
import type { Who } from '@parley/contract/endpoint'
import type { EventKind } from '@parley/contract/events'
import { Problem } from '@parley/contract/problems'
import type { ConversationInfo, ReportedEvent } from '@parley/contract/webhooks'
import type { Clock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import type { EventRow, Known, LogStore, SubjectStore } from '../conversations/service.ts'
import { readFromNowOn } from '../processors/service.ts'
import type { SecretsService } from '../secrets/service.ts'
import { grown, mergedTags, toldBy, triggerOf } from './merge.ts'
import { isOurs } from './ours.ts'
import { type ReportRow, reportStore, type ReportStore } from './report-store.ts'
import { reportedRow, type ReportedRow } from './reported-row.ts'

/*
 * Reports of agent servers outside Parley. Everything of one report is one transaction: it is answered when all of it is
 * stored, and else the sender sends it again. A report about a conversation that Parley runs itself cannot steer it: what is
 * in a sandbox must not be able to speak for its user.
 */

export interface ReportParts {
  store: ReportStore
  secrets: Pick<SecretsService, 'values'>
  clock: Clock
  /** Conversations and their logs within a transaction. */
  within: (tx: Database) => { subjects: SubjectStore; logs: Pick<LogStore, 'append' | 'known'> }
  /** Makes a conversation; false when its id is taken. */
  make: (tx: Database, row: ReportedRow) => Promise<boolean>
  /** There is more in the log of this conversation. */
  tell: (conversation: string) => void
}

export type Reports = ReturnType<typeof reportService>

/** A conversation as a report finds it, with its head locked. */
type Reported = Known & ReportRow

const success = { success: true } as const

export function reportService(parts: ReportParts) {
  const { store, clock, tell } = parts

  async function changed(who: Who, info: ConversationInfo): Promise<void> {
    await store.transaction(async (_, tx) => {
      const row = await found(parts, tx, who, info.id, info)
      const tags = mergedTags(row.tags, info.tags)
      await parts.within(tx).subjects.update(row.id, {
        tags,
        trigger: triggerOf(row.trigger, tags),
        model: row.made ? info.agent.llm.model : null,
        workingDir: row.made ? info.workspace.working_dir : null,
      })
      const status = { value: info.execution_status, at: info.updated_at ?? null }
      const { usage_to_metrics: usages } = info.stats
      const flat = info.metrics !== null && Object.keys(usages).length === 0 ? { default: info.metrics } : usages
      await head(tx, who, row, status, flat)
      tx.afterCommit(() => tell(row.id))
    })
  }

  return {
    async conversation(who: Who, info: ConversationInfo) {
      // It says good-bye; deleting is its owner's business.
      if (info.execution_status !== 'deleting') await changed(who, info)
      return success
    },

    async events(who: Who, id: string, events: readonly ReportedEvent[]) {
      // Nothing is made for an empty batch; what is gone or another's is refused to it as to any other.
      if (events.length === 0) {
        await store.transaction((_, tx) => known(parts, tx, who, id))
        return success
      }
      for (const event of events) mustBeStorable(event)
      const mask = masker(named(await parts.secrets.values(who.owner)))
      const now = clock.now()
      const dated = events.map((event) => ({ ...event, at: event.timestamp ?? now }))
      await store.transaction(async (_, tx) => {
        const row = await found(parts, tx, who, id, null)
        if (!row.made && who.kind === 'sandbox') dated.forEach(mustNotSteer)
        const { subjects, logs } = parts.within(tx)
        const fresh = await unknownOf(logs, row.id, dated)
        if (fresh.length === 0) return
        const log = fresh.map((event) => eventRow(event, mask.value))
        await logs.append(row.id, log, { wants: false, revives: [] })
        const told = toldBy(fresh)
        await head(tx, who, row, told.status, told.usages)
        await subjects.moved(row.id)
        tx.afterCommit(() => tell(row.id))
      })
      return success
    },
  }

  /** Status and totals, unless a run of our own has the last word on them. */
  async function head(
    tx: Database,
    who: Who,
    row: Reported,
    status: { value: Reported['execution_status']; at: string | null } | null,
    usages: Parameters<typeof grown>[1],
  ): Promise<void> {
    if (row.is_running || (!row.made && who.kind === 'sandbox')) return
    // A clock that runs ahead must not hold back what is told later.
    const told = status?.at ?? null
    const at = told === null || told < clock.now() ? told : clock.now()
    const isLate = at !== null && row.status_at !== null && at < row.status_at
    await parts.within(tx).subjects.head(row.id, {
      status: status === null || isLate ? null : status.value,
      metrics: Object.keys(usages).length === 0 ? null : grown(row.metrics, usages),
    })
    if (at !== null && !isLate) await reportStore(tx).statusAt(row.id, at)
  }
}

/**
 * The conversation, which is made when its id was never used: an agent server outside may begin with either report. What is
 * another's is not found; nor does the key of a sandbox that Parley works in itself make anything.
 */
async function found(
  parts: ReportParts,
  tx: Database,
  who: Who,
  id: string,
  info: ConversationInfo | null,
): Promise<Reported> {
  const there = await known(parts, tx, who, id)
  if (there !== undefined) return there
  const { subjects } = parts.within(tx)
  const reports = reportStore(tx)
  if (who.kind === 'sandbox' && (await isOurs({ subjects, reports }, who.id))) throw new Problem('not_found')
  const isNew = await parts.make(tx, reportedRow(who, id, info, parts.clock.now()))
  // Deleted between the look above and now: what is gone stays gone.
  await mustBeUnused(subjects, who, id)
  if (isNew) {
    await reports.made(id)
    await readFromNowOn(tx, id)
  }
  const made = await known(parts, tx, who, id)
  if (made !== undefined) return made
  // Another report was first, and it was deleted since.
  throw new Problem('not_found')
}

/** With its head locked; undefined when its id was never used. */
async function known(parts: ReportParts, tx: Database, who: Who, id: string): Promise<Reported | undefined> {
  const { subjects } = parts.within(tx)
  const head = await subjects.lock(id)
  if (head !== undefined) return mine(who, { ...head, ...(await reportStore(tx).find(id)) })
  await mustBeUnused(subjects, who, id)
  return undefined
}

function mine(who: Who, row: Reported): Reported {
  if (row.owner_id !== who.owner) throw new Problem('not_found')
  if (who.kind === 'sandbox' && row.sandbox_id !== who.id) throw new Problem('not_found')
  return row
}

async function mustBeUnused(subjects: Pick<SubjectStore, 'used'>, who: Who, id: string): Promise<void> {
  const used = await subjects.used(id)
  if (used === undefined) return
  if (used.owner_id !== who.owner) throw new Problem('not_found')
  if (used.how === 'deleted') throw new Problem('gone', 'The conversation was deleted.')
  throw new Problem('state_conflict', 'A conversation with this id is being started.')
}

type Dated = ReportedEvent & { at: string }

/** Each once, in the order in which they came. */
async function unknownOf(logs: Pick<LogStore, 'known'>, id: string, events: readonly Dated[]): Promise<Dated[]> {
  const ids = events.map((event) => event.id)
  const known = await logs.known(id, ids)
  return events.filter((event) => {
    if (known.has(event.id)) return false
    known.add(event.id)
    return true
  })
}

const control = /\p{Cc}/u

function mustBeStorable({ kind, id }: ReportedEvent): void {
  if (control.test(kind)) throw new Problem('validation_error', `The kind of event ${id} has control characters.`)
}

const steering = new Set<string>([
  'ActionEvent',
  'SystemPromptEvent',
  'PauseEvent',
  'InterruptEvent',
  'Condensation',
  'CondensationRequest',
  'CondensationSummaryEvent',
] satisfies EventKind[])

function mustNotSteer({ id, kind, source, ...own }: Dated): void {
  const key = typeof own['key'] === 'string' ? own['key'] : ''
  if (source !== 'user' && !steering.has(kind) && !key.startsWith('confirmation')) return
  throw new Problem('state_conflict', `Event ${id} would steer a conversation that Parley runs itself.`)
}

/** As it came, but for what has a column and what is ours to say. */
function eventRow({ id, kind, source, at, ...raw }: Dated, mask: <T>(value: T) => T): Omit<EventRow, 'seq'> {
  const { timestamp: _timestamp, seq: _seq, parent_id: parent, ...own } = raw
  const kept = typeof parent === 'string' ? { ...own, parent_id: parent } : own
  // A kind that we do not know is kept like one that we do.
  return { id, kind: kind as EventKind, source, at, body: JSON.stringify(mask(kept)) }
}

const named = (secrets: readonly { name: string; value: string }[]) =>
  secrets.map(({ name, value }) => ({ name, value }))
