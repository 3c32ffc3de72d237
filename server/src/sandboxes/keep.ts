import type { Driver } from '@parley/sandbox/driver'
import type { Limits } from '../limits.ts'
import type { Sandboxes } from './service.ts'
import type { SandboxRow, SandboxStore } from './store.ts'

/*
 * Makes what is there into what is wanted, again and again: by level, not by edge, so that a crash between any two lines is
 * mended by the next round and two rounds at once do no harm.
 */

interface Parts {
  store: SandboxStore
  sandboxes: Sandboxes
  driver: Driver
  limits: Limits
  replica: string
  log: (message: string, details?: Record<string, unknown>) => void
}

const everyMs = 5_000

/** Runs until it is stopped; one round at a time. */
export function keepSandboxes(parts: Parts): { stop(): Promise<void>; round(): Promise<void> } {
  let going: Promise<void> = Promise.resolve()
  const round = () => (going = going.then(() => one(parts)))
  const timer = setInterval(() => void round(), everyMs)
  return {
    round,
    async stop() {
      clearInterval(timer)
      await going
    },
  }
}

async function one(parts: Parts): Promise<void> {
  const { store, limits, replica, log } = parts
  try {
    const idle = limits.sandboxes.idle_pause
    for (const row of await store.unsettled(replica, idle === 'never' ? null : idle)) await settle(parts, row)
    await clearOrphans(parts)
  } catch (error) {
    log('The sandboxes could not be looked after; it is tried again.', { error })
  }
}

async function settle({ store, sandboxes, log }: Parts, row: SandboxRow): Promise<void> {
  try {
    if (row.wanted === 'removed') return await sandboxes.discard(row.id)
    if (row.wanted === 'paused') return await sandboxes.pauseNow(row, row.status_detail ?? 'Paused.')
    if (row.status === 'RUNNING') return await sandboxes.pauseNow(row, 'Paused after a time without use.')
    await store.change(row.id, ['STARTING'], {
      status: 'ERROR',
      status_detail: 'It did not start in time.',
      status_until: null,
    })
  } catch (error) {
    log('A sandbox could not be settled; it is tried again.', { id: row.id, error })
  }
}

/** What no row knows has no owner: it is left over from a crash between making and removing. */
async function clearOrphans({ store, driver }: Parts): Promise<void> {
  const there = await driver.list()
  if (there.length === 0) return
  const known = await store.known(there.map((seen) => seen.id))
  for (const seen of there) if (!known.has(seen.id)) await driver.remove(seen.id)
}
