import type { Database } from '@parley/store/database'
import type { Job, Jobs, Kind } from '@parley/store/jobs'
import { named, type Rounds, rounds } from '../stirs.ts'
import { send, type SendParts } from './send.ts'
import type { DueRow, SubscriptionRow, WebhookStore } from './store.ts'

/*
 * What is to be told is a row for each subscription. One job for each subscription sends what is due, so a slow receiver has
 * its own job and delays nobody else's; a retry is a row that is due later.
 */

export const deliverJob = 'deliver-webhooks'

/** Calls at the same time to one address. */
const abreast = 4
/** How often more is looked for while there is room. */
const lookMs = 250

export const deliverJobKind = (parts: SendParts): Kind => ({
  attempts: 20,
  backoffMs: 1_000,
  concurrency: 64,
  run: (job) => deliver(parts, job),
})

/** There is something to send again. */
class More extends Error {}

async function deliver(parts: SendParts, job: Job): Promise<void> {
  const { store } = parts
  const going = new Map<string, Promise<void>>()
  let broken: { error: unknown } | undefined
  for (;;) {
    const to = job.signal.aborted || broken ? undefined : await store.enabled(job.key)
    for (const call of to === undefined ? [] : await next(store, to, going)) {
      const done = one(parts, call, job.signal)
        .catch((error: unknown) => void (broken ??= { error }))
        .finally(() => going.delete(call.row.id))
      going.set(call.row.id, done)
    }
    if (going.size > 0) await oneOf([...going.values()], going.size < abreast)
    else if (broken) throw broken.error
    else if (job.signal.aborted) throw job.signal.reason
    else if (to === undefined || (await end(store, job))) return
  }
}

interface Call {
  to: SubscriptionRow
  row: DueRow
}

async function next(store: WebhookStore, to: SubscriptionRow, going: ReadonlyMap<string, unknown>): Promise<Call[]> {
  const free = abreast - going.size
  const due = free > 0 ? await store.due(to.id, [...going.keys()], free) : []
  return due.map((row) => ({ to, row }))
}

/** Resolves with the first; when there is room for more, in time to look for them. */
async function oneOf(going: Promise<void>[], hasRoom: boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = hasRoom ? setTimeout(resolve, lookMs) : undefined
  await Promise.race([...going, promise])
  clearTimeout(timer)
}

async function one(parts: SendParts, { to, row }: Call, signal: AbortSignal): Promise<void> {
  const { gone, ...answer } = await send(parts, to, row, signal)
  await parts.store.answered(row, answer)
  if (gone) await parts.store.pause(to.id, 'The address answered 410 Gone.')
  else if (answer.status === 'failed' && row.attempts > 0)
    await parts.store.pauseIfDead(row, 'Every call has failed for days.')
}

async function end(store: WebhookStore, job: Job): Promise<boolean> {
  try {
    await store.transaction(async (rows, tx) => {
      if (!(await job.finish(tx))) throw new Error('the lease of the job is lost')
      if ((await rows.due(job.key, [], 1)).length > 0) throw new More()
    })
    return true
  } catch (error) {
    if (error instanceof More) return false
    throw error
  }
}

/** Due retries are looked for so often. */
const everyMs = 1_000
const gapMs = 100
/** A round over all conversations: for what was appended where nobody listened, and what was left by a crash. */
const wholeEveryMs = 10_000
const tidyEveryMs = 60_000
const mostAtOnce = 500
/** Waiting calls of one subscription; with more it is paused. */
const mostWaiting = 10_000
const keptDays = 30

export interface FollowParts {
  store: WebhookStore
  jobs: Jobs
  database: Database
  heard: (fn: (topic: string) => void) => () => void
  log: (message: string, details?: Record<string, unknown>) => void
}

/** Tells new events to those who subscribed them, and spawns the job of each subscription that has something to send. */
export function followSubscriptions({ store, jobs, database, heard, log }: FollowParts): Rounds {
  let stirred = new Set<string>()
  let [wholeAt, tidyAt] = [0, Date.now()]
  const round = async () => {
    const some = [...stirred]
    stirred = new Set()
    if (!(await store.anyEnabled())) return
    const whole = Date.now() - wholeAt >= wholeEveryMs || some.length > mostAtOnce
    if (whole) wholeAt = Date.now()
    if (whole || some.length > 0) await store.tellEvents(whole ? null : some, mostAtOnce)
    for (const key of await store.waiting(mostAtOnce))
      await jobs.spawn(database, { kind: deliverJob, key, input: null })
    if (Date.now() - tidyAt < tidyEveryMs) return
    tidyAt = Date.now()
    await store.tidy(mostWaiting, `More than ${mostWaiting} calls were waiting.`, keptDays)
  }
  const failed = (error: unknown) => log('Webhooks could not be looked after; it is tried again.', { error })
  const going = rounds({ round, everyMs, gapMs, failed })
  const off = heard((topic) => {
    const conversation = named(topic, 'events')
    if (conversation !== undefined) stirred.add(conversation)
    if (conversation !== undefined || /^(start|sandbox):/.test(topic)) going.poke()
  })
  return {
    poke: going.poke,
    stop() {
      off()
      return going.stop()
    },
  }
}
