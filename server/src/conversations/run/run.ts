import { Fenced } from '@parley/agent/log'
import { run as runLoop, type Outcome } from '@parley/agent/loop/loop'
import { Interrupted } from '@parley/agent/loop/stop'
import type { NewEvent } from '@parley/contract/events'
import type { ExecutionStatus } from '@parley/contract/execution'
import type { Failure } from '@parley/contract/metrics'
import { Problem } from '@parley/contract/problems'
import type { Database } from '@parley/store/database'
import type { Job, Kind } from '@parley/store/jobs'
import { sandboxTopic } from '../../sandboxes/service.ts'
import { newRow } from '../log/record.ts'
import { logStore } from '../log/store.ts'
import { conversationStore } from '../store.ts'
import { eventsTopic, inboxTopic } from '../topics.ts'
import { childStore } from './child-store.ts'
import { open, type Opened, type RunParts } from './open.ts'
import { places } from './places.ts'

/*
 * A run as a durable job: whoever holds the job's lease has the pen of the conversation's log. The log is the checkpoint, so a
 * worker that takes over reads it and goes on. A run ends in one transaction that looks once more for messages.
 */

/** A run says so often that its sandbox is at work; an idle pause waits for longer than this. */
const busyEveryMs = 10_000
const busyForMs = 30_000

const mostRuns = 400
/** Of the runs of a process, so many may wait for sub-agents: the others are left for those. */
const mostHelpers = mostRuns / 2

export function runJobKind(given: Omit<Parts, 'helpers' | 'children'>): Kind {
  const parts: Parts = { ...given, helpers: places(mostHelpers), children: childStore(given.database) }
  return {
    attempts: 5,
    backoffMs: 1_000,
    concurrency: mostRuns,
    run: (job) => work(parts, job),
    async failed(job, error) {
      parts.log('A run failed.', { conversation: job.key, error })
      const detail =
        error instanceof Problem ? error.detail : 'The run failed inside the service; its log has the cause.'
      const opened = await open(parts, job)
      if (opened !== undefined)
        await settle(parts, job, opened, { status: 'error', code: 'internal_error', detail, seenSeq: 0 })
    },
  }
}

type Parts = RunParts & { database: Database }

async function work(parts: Parts, job: Job): Promise<void> {
  const opened = await open(parts, job)
  if (opened === undefined) return
  const stop = new AbortController()
  const watching = watch(parts, job, opened, stop)
  try {
    // Not waited for: what comes after it is stored after it, and the end of the run waits for all of it.
    opened.log.write([statusEvent('running')], { executionStatus: 'running', statusReason: null }).catch(() => {})
    const signal = AbortSignal.any([job.signal, stop.signal])
    // Resumed beside the first call of the model. When it cannot be, the first tool that needs it says why.
    if (opened.row.sandbox_id !== null) opened.options.hands(signal).then(watching.held, () => {})
    const tools = await opened.equip()
    while (!(await settle(parts, job, opened, await runLoop({ ...opened.options, tools, signal }))));
    opened.keep(tools)
    // Not waited for: the next message is answered meanwhile.
    const since = opened.row.wanted_seq
    if (opened.log.events.some((event) => event.kind === 'ActionEvent' && event.seq > since))
      void parts.checkpoints.save(job.key)
  } catch (error) {
    // Somebody else has the pen. A replica that stops throws: returning would say that the job is done.
    if (!(error instanceof Fenced)) throw error
  } finally {
    watching.end()
    await opened.letGo()
  }
}

interface Watching {
  /** The sandbox is in the hands of the run. Until then a pause is not one of its work: who comes in the midst of it waits. */
  held(): void
  end(): void
}

/** Hears what others append, and stops the run when its sandbox is paused or removed. */
function watch(parts: Parts, job: Job, opened: Opened, stop: AbortController): Watching {
  const { sandboxes, wake } = parts
  const sandbox = opened.row.sandbox_id
  let isHeld = false
  const stir = () => opened.log.stir()
  const check = async () => {
    if (sandbox === null || !isHeld) return
    const seen = (await sandboxes.statuses([sandbox])).get(sandbox)
    if (seen === undefined || seen.wanted !== 'running') stop.abort(new Interrupted('The sandbox was paused.'))
  }
  const touch = async () => {
    if (sandbox !== null) await sandboxes.touch(sandbox, busyForMs)
  }
  const beat = () => {
    stir()
    return touch()
  }
  const quietly = (doing: () => Promise<void>) => () =>
    void doing().catch((error: unknown) =>
      parts.log('A run could not look after its sandbox.', { job: job.key, error }),
    )
  const offs = [
    wake.on(inboxTopic(job.key), stir),
    ...(sandbox === null ? [] : [wake.on(sandboxTopic(sandbox), quietly(check))]),
  ]
  const timer = setInterval(quietly(beat), busyEveryMs)
  const saver = setInterval(() => void parts.checkpoints.save(job.key), parts.checkpoints.everyMs)
  quietly(touch)()
  return {
    held() {
      isHeld = true
      // It may have been told before it was heard.
      quietly(check)()
    },
    end() {
      clearInterval(timer)
      clearInterval(saver)
      for (const off of offs) off()
      if (sandbox !== null) sandboxes.touch(sandbox).catch(() => {})
    },
  }
}

class Wanted extends Error {}

/** True when the run is over; false when somebody has asked for more meanwhile. Rejects with `Fenced`. */
async function settle(parts: Parts, job: Job, { row, log }: Opened, outcome: Outcome): Promise<boolean> {
  const reason = failure(outcome, parts.clock.now())
  const events = [statusEvent(outcome.status, reason)]
  try {
    await parts.database.transaction(async (tx) => {
      if (!(await job.finish(tx))) throw new Fenced('the lease of the run is lost')
      const rows = logStore(tx)
      const state = await rows.settle(row.id, job.epoch, log.readSeq)
      if (state === 'fenced') throw new Fenced('another worker has the conversation')
      // A paused run stays paused until it is asked again after the pause.
      if (state === 'wanted' && outcome.status !== 'paused') throw new Wanted()
      const change = { executionStatus: outcome.status, statusReason: reason }
      const written = events.map((event) => newRow(event, parts.clock.id(), parts.clock.now()))
      await rows.appendFenced(row.id, job.epoch, written, change)
      await conversationStore(tx).moved(row.id)
      tx.afterCommit(() => parts.wake.tell(eventsTopic(row.id)))
    })
    return true
  } catch (error) {
    if (error instanceof Wanted) return false
    throw error
  }
}

const statusEvent = (status: ExecutionStatus, reason: Failure | null = null): NewEvent => ({
  kind: 'ConversationStateUpdateEvent',
  source: 'environment',
  key: 'execution_status',
  value: status,
  ...(reason === null ? {} : { reason }),
})

const failure = (outcome: Outcome, at: string): Failure | null =>
  outcome.code === undefined
    ? null
    : { code: outcome.code, detail: outcome.detail ?? '', at, retryable: outcome.status === 'error' }
