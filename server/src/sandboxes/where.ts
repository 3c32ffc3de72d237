import { sandboxAllows } from '@parley/contract/sandboxes'
import type { Opening } from './open.ts'
import type { SandboxRow, SandboxStore } from './store.ts'

interface Parts {
  store: SandboxStore
  replica: string
}

/** Which server reaches which sandbox: its files are on the machine of the server that holds it. */
export function whereOf({ store, replica }: Parts) {
  const isHere = (row: Pick<SandboxRow, 'replica'>) => row.replica === null || row.replica === replica

  return {
    /** The server that work in this sandbox has to be done by; null: any. */
    async keeper(id: string | null): Promise<string | null> {
      if (id === null) return null
      return (await store.many([id]))[0]?.replica ?? null
    },

    /** Whether `hands` can be had here, as far as the row knows; `leaving`: also of one that is to be paused. */
    async usable(id: string | null, { leaving = false }: Opening = {}): Promise<boolean> {
      const row = id === null ? undefined : (await store.many([id]))[0]
      if (row === undefined || !sandboxAllows(row.status, 'use')) return false
      return (leaving || row.wanted === 'running') && isHere(row)
    },

    /** Running ones that a new conversation may join from here, newest first. */
    async joinable(owner: string): Promise<SandboxRow[]> {
      return (await store.page(owner, 'RUNNING', null, 100)).filter(isHere)
    },
  }
}
