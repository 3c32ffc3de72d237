import { type Driver, SandboxGone } from '@parley/sandbox/driver'
import { turns } from '@parley/sandbox/turns'
import type { Database } from '@parley/store/database'
import type { Wake } from '@parley/store/wake'
import type { Access } from '../access/service.ts'
import type { SandboxRow, SandboxStore } from './store.ts'

/* How a sandbox stops being usable. Its key is void from there on, and who keeps something of its files does so before. */

export interface LeaveParts {
  store: SandboxStore
  database: Pick<Database, 'afterCommit' | 'apart'>
  driver: Driver
  access: Access
  wake: Wake
  replica: string
  /** Waits for who opens it now. */
  settled: (id: string) => Promise<void>
  log: (message: string, details?: Record<string, unknown>) => void
}

/** Told when a sandbox stops being usable, so that what works in it can stop. */
export const sandboxTopic = (id: string): string => `sandbox:${id}`

export function leaverOf({ store, database, driver, access, wake, replica, settled, log }: LeaveParts) {
  const listeners: ((id: string) => Promise<void>)[] = []
  const inTurn = turns()

  async function leave(row: SandboxRow): Promise<void> {
    if (row.status === 'RUNNING') for (const listener of listeners) await listener(row.id)
  }

  /** One after the other: what is kept of a sandbox opens it once more, and another pause may be over by then. */
  async function pauseHere(id: string, reason: string): Promise<void> {
    await settled(id)
    const row = await store.get(id)
    if (row?.wanted !== 'paused' || (row.status !== 'STARTING' && row.status !== 'RUNNING')) return
    await leave(row)
    await access.closeSandbox(id)
    // One without a process is at rest already.
    await driver.pause(id).catch((error: unknown) => {
      if (!(error instanceof SandboxGone)) throw error
    })
    await store.change(id, ['STARTING', 'RUNNING'], { status: 'PAUSED', status_detail: reason, status_until: null })
  }

  async function clear(id: string): Promise<void> {
    try {
      await driver.remove(id)
      await store.delete(id)
    } catch (error) {
      log('A sandbox could not be removed; it is tried again.', { id, error })
    }
  }

  /** Gone for its owner at once; the row stays until its files are gone too. */
  async function drop(id: string): Promise<void> {
    await store.change(id, ['STARTING', 'RUNNING', 'PAUSED', 'ERROR', 'MISSING'], {
      wanted: 'removed',
      status: 'MISSING',
    })
    wake.tell(sandboxTopic(id))
    await access.closeSandbox(id)
    // Within a transaction it is cleared away after that, and nobody waits for it.
    let cleared: Promise<void> | undefined
    database.afterCommit(() => (cleared = clear(id)))
    await cleared
  }

  return {
    /**
     * Called before the files of a RUNNING sandbox are out of reach, which waits for it. Rejects only when this server stops:
     * the sandbox then stays for the next start.
     */
    beforeLeaving: (listener: (id: string) => Promise<void>): void => void listeners.push(listener),

    /** Everything in it stops: at once when it is here, else as soon as the server that holds it sees what is wanted. */
    async pauseNow(row: SandboxRow, reason: string): Promise<void> {
      await store.change(row.id, ['STARTING', 'RUNNING'], { wanted: 'paused', status_detail: reason })
      wake.tell(sandboxTopic(row.id))
      if (row.replica !== null && row.replica !== replica) return
      await inTurn(row.id, () => pauseHere(row.id, reason))
    },

    drop,

    /** As `drop`, and who keeps something of its files does so before. */
    async discard(id: string): Promise<void> {
      await database.apart(async () => {
        const row = await store.get(id)
        if (row !== undefined && row.wanted !== 'removed') await leave(row)
      })
      await drop(id)
    },
  }
}
