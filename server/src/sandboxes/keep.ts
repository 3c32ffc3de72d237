import { type NewEvent, warning } from '@parley/contract/events'
import type { Driver } from '@parley/sandbox/driver'
import type { Limits } from '../limits.ts'
import type { Sandboxes } from './service.ts'
import type { Due, SandboxRow, SandboxStore } from './store.ts'

/*
 * Makes what is there into what is wanted, again and again: by level, not by edge, so that a crash between any two lines is
 * mended by the next round and two rounds at once do no harm.
 */

/** Appends to the logs of those who work in a sandbox. */
export type Tell = (sandbox: string, event: NewEvent) => Promise<void>

interface Parts {
  store: SandboxStore
  sandboxes: Sandboxes
  driver: Driver
  limits: Limits
  replica: string
  tell: Tell
  log: (message: string, details?: Record<string, unknown>) => void
}

const everyMs = 5_000

/** Runs until it is stopped; one round at a time. */
export function keepSandboxes(parts: Parts): { stop(): Promise<void>; round(): Promise<void> } {
  let going: Promise<void> = Promise.resolve()
  const stopping = new AbortController()
  const told = new Map<string, string>()
  const round = () => (going = going.then(() => one(parts, told, stopping.signal)))
  const timer = setInterval(() => void round(), everyMs)
  parts.driver.onEnd(({ id, detail }) => void endedByItself(parts, id, detail))
  return {
    round,
    async stop() {
      stopping.abort()
      clearInterval(timer)
      await going
    },
  }
}

async function one(parts: Parts, told: Map<string, string>, stopping: AbortSignal): Promise<void> {
  const { store, limits, replica, log } = parts
  const { idle_pause, delete_after, run_at_most } = limits.sandboxes
  const ms = (limit: number | 'never') => (limit === 'never' ? null : limit)
  try {
    const times = { idleMs: ms(idle_pause), runMs: ms(run_at_most), deleteMs: ms(delete_after) }
    for (const row of await store.unsettled(replica, times)) {
      if (stopping.aborted) return
      await settle(parts, row)
    }
    await lookAround(parts, told)
  } catch (error) {
    log('The sandboxes could not be looked after; it is tried again.', { error })
  }
}

type Settle = (parts: Parts, row: SandboxRow) => Promise<unknown>

const settling: Record<Due, Settle> = {
  remove: ({ sandboxes }, row) => sandboxes.discard(row.id),
  pause: ({ sandboxes }, row) => sandboxes.pauseNow(row, row.status_detail ?? 'Paused.'),
  idle: ({ sandboxes }, row) => sandboxes.pauseNow(row, 'Paused after a time without use.'),
  run_time: ({ sandboxes }, row) => sandboxes.pauseNow(row, 'Paused for having run as long as a sandbox may.'),
  async delete_time({ sandboxes, tell }, row) {
    const detail = 'The sandbox was paused for as long as one is kept, and is deleted.'
    await tell(row.id, warning('sandbox_deleted', detail))
    await sandboxes.discard(row.id)
  },
  start_deadline: ({ store }, row) =>
    store.change(row.id, ['STARTING'], {
      status: 'ERROR',
      status_detail: 'It did not start in time.',
      status_until: null,
    }),
}

async function settle(parts: Parts, row: SandboxRow & { due: Due }): Promise<void> {
  try {
    await settling[row.due](parts, row)
  } catch (error) {
    parts.log('A sandbox could not be settled; it is tried again.', { id: row.id, error })
  }
}

/** What no row knows has no owner: it is left over from a crash between making and removing. */
async function lookAround({ store, driver, tell }: Parts, told: Map<string, string>): Promise<void> {
  const there = await driver.list()
  if (there.length === 0) return
  const known = await store.known(there.map((seen) => seen.id))
  for (const { id, detail } of there) {
    if (!known.has(id)) await driver.remove(id)
    else if (isNews(told, id, detail)) await tell(id, warning('sandbox_limit', `The sandbox is at a limit: ${detail}.`))
  }
  for (const id of told.keys()) if (!known.has(id)) told.delete(id)
}

/** How much is in use just now is not, or a log would fill with it. */
function isNews(told: Map<string, string>, id: string, detail: string | null): detail is string {
  const text = detail?.replace(/: \d+ MiB in use/, '') ?? ''
  if (text === (told.get(id) ?? '')) return false
  told.set(id, text)
  return text !== ''
}

async function endedByItself({ tell, log }: Parts, id: string, why: string | null): Promise<void> {
  const detail = `The sandbox ended by itself${why === null ? '' : `: ${why}`}. It is opened again with its files when it is needed.`
  await tell(id, warning('sandbox_ended', detail)).catch((error: unknown) =>
    log('The end of a sandbox could not be told.', { id, error }),
  )
}
