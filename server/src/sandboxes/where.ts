import { sandboxAllows } from '@parley/contract/sandboxes'
import type { Driver } from '@parley/sandbox/driver'
import type { Opening } from './open.ts'
import type { SandboxRow, SandboxStore } from './store.ts'

interface Parts {
  store: SandboxStore
  driver: Pick<Driver, 'look'>
  replica: string
}

/** Which server reaches which sandbox: its files are on the machine of the server that holds it. */
export function whereOf({ store, driver, replica }: Parts) {
  const isHere = (row: Pick<SandboxRow, 'replica'>) => row.replica === null || row.replica === replica
  /** False of one that was made behind walls when there are none, or the other way round. */
  const opens = ({ id }: Pick<SandboxRow, 'id'>) =>
    driver.look(id).then(
      ({ state }) => state !== 'error',
      () => true,
    )

  return {
    /** The server that work in this sandbox has to be done by; null: any. */
    async keeper(id: string | null): Promise<string | null> {
      if (id === null) return null
      return (await store.many([id]))[0]?.replica ?? null
    },

    /** Whether `hands` can be had here, as far as is known; `leaving`: also of one that is to be paused. */
    async usable(id: string | null, { leaving = false }: Opening = {}): Promise<boolean> {
      const row = id === null ? undefined : (await store.many([id]))[0]
      if (row === undefined || !sandboxAllows(row.status, 'use')) return false
      return (leaving || row.wanted === 'running') && isHere(row) && opens(row)
    },

    /** Running ones that a new conversation may join from here, newest first. */
    async joinable(owner: string): Promise<SandboxRow[]> {
      const here = (await store.page(owner, 'RUNNING', null, 100)).filter(isHere)
      const open = await Promise.all(here.map(opens))
      return here.filter((_, index) => open[index])
    },
  }
}
