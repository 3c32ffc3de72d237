import { Problem } from '@parley/contract/problems'
import {
  type Sandbox,
  sandboxAllows,
  type SandboxStatus,
  type SandboxVerb,
  sandboxRefusal,
} from '@parley/contract/sandboxes'
import { type Hands, SandboxGone } from '@parley/sandbox/driver'
import type { Clock } from '@parley/store/clock'
import type { Cursor } from '@parley/store/page'
import type { Wake } from '@parley/store/wake'
import type { Access } from '../access/service.ts'
import { type OpenParts, opener } from './open.ts'
import { type Placing, placeIn } from './place.ts'
import type { PortLinks } from './port-links.ts'
import { builtInSpec } from './spec.ts'
import type { SandboxRow, Seen } from './store.ts'

export { builtInSpec } from './spec.ts'

/*
 * A row says what is wanted and what was seen; the driver makes it so. A sandbox that is RUNNING may have no process for the
 * moment (the server was restarted): it is opened again when somebody needs it, and its files were never away.
 */

export interface SandboxParts extends OpenParts {
  access: Access
  clock: Clock
  cursor: Cursor
  wake: Wake
  links: Pick<PortLinks, 'exposed'>
  log: (message: string, details?: Record<string, unknown>) => void
}

/** Told when a sandbox stops being usable, so that what works in it can stop. */
export const sandboxTopic = (id: string): string => `sandbox:${id}`

export type Sandboxes = ReturnType<typeof sandboxService>

export function sandboxService(parts: SandboxParts) {
  const { store, driver, access, clock, cursor, limits } = parts
  const [open, record] = [opener(parts), recordOf(parts.links)]

  async function own(owner: string, id: string, verb?: SandboxVerb): Promise<SandboxRow> {
    const row = await store.get(id)
    if (row === undefined || row.owner_id !== owner || row.wanted === 'removed') throw new Problem('not_found')
    const refusal = verb && sandboxRefusal(row.status, verb)
    if (refusal !== undefined) throw refused(row.status, refusal)
    return row
  }

  /** Everything in it stops; its key is void from here on. */
  async function pause(row: SandboxRow, reason: string): Promise<void> {
    await store.change(row.id, ['STARTING', 'RUNNING'], { wanted: 'paused' })
    parts.wake.tell(sandboxTopic(row.id))
    await access.closeSandbox(row.id)
    // One without a process is at rest already.
    await driver.pause(row.id).catch((error: unknown) => {
      if (!(error instanceof SandboxGone)) throw error
    })
    await store.change(row.id, ['STARTING', 'RUNNING'], {
      status: 'PAUSED',
      status_detail: reason,
      status_until: null,
    })
  }

  const place = placeIn({ store, clock, limits, spec: builtInSpec.id, pause })

  return {
    own,
    pauseNow: pause,

    /** A sandbox for new work: the one that is asked for, or a new one. Nothing runs in it yet. */
    place: (placing: Placing) => place(placing),

    /** Resolves when it can be worked in: starts it, opens it again or resumes it. */
    ready: open,

    /** Opens it when it has no process. Rejects with `state_conflict` while it is PAUSED, with `gone` when it is lost. */
    async hands(owner: string, id: string | null, signal: AbortSignal): Promise<Hands> {
      if (id === null) throw new Problem('gone', 'The sandbox no longer exists.')
      const row = await store.get(id)
      if (row === undefined || row.owner_id !== owner) throw new Problem('gone', 'The sandbox no longer exists.')
      if (!sandboxAllows(row.status, 'use'))
        throw refused(row.status, sandboxRefusal(row.status, 'use') ?? 'state_conflict')
      await open(id, signal)
      return driver.hands(id)
    },

    /** Of those that exist; an absent one is MISSING. `wanted` tells one that is on its way to a pause or gone. */
    async statuses(ids: readonly string[]): Promise<Map<string, Pick<SandboxRow, Seen>>> {
      return new Map((await store.many(ids)).map((row) => [row.id, row]))
    },

    /** The server that work in this sandbox has to be done by; null: any. */
    async keeper(id: string | null): Promise<string | null> {
      if (id === null || driver.kind !== 'process') return null
      return (await store.many([id]))[0]?.replica ?? null
    },

    /** Running ones that a new conversation may join from here, newest first. */
    async joinable(owner: string): Promise<SandboxRow[]> {
      const rows = await store.page(owner, 'RUNNING', null, 100)
      return rows.filter((row) => driver.kind !== 'process' || row.replica === parts.replica)
    },

    touch: (id: string, busyMs = 0): Promise<void> => store.touch(id, busyMs),
    allow: store.allow,
    repositories: store.repositories,

    async search(
      owner: string,
      query: { status__eq?: SandboxStatus | undefined; page_id?: string | undefined; limit: number },
    ) {
      const key = `sandboxes ${owner} ${query.status__eq ?? ''}`
      const at = query.page_id === undefined ? null : cursor.read(query.page_id, key)
      const after = at === null ? null : { at: String(at[0]), id: String(at[1]) }
      const rows = await store.page(owner, query.status__eq ?? null, after, query.limit + 1)
      const items = rows.slice(0, query.limit)
      const end = rows.length > query.limit ? items.at(-1) : undefined
      return {
        items: items.map(record),
        next_page_id: end === undefined ? null : cursor.write({ query: key, at: [end.created_at, end.id] }),
      }
    },

    async many(owner: string, ids: readonly string[]): Promise<(Sandbox | null)[]> {
      const rows = new Map((await store.ofOwner(owner, ids)).map((row) => [row.id, row]))
      return ids.map((id) => {
        const row = rows.get(id)
        return row === undefined || row.wanted === 'removed' ? null : record(row)
      })
    },

    get: async (owner: string, id: string): Promise<Sandbox> => record(await own(owner, id)),

    /** Made before a conversation needs it; it starts in the background. */
    async create(owner: string, specId: string | undefined): Promise<Sandbox> {
      if (specId !== undefined && specId !== builtInSpec.id)
        throw new Problem('not_found', 'There is no such sandbox spec.')
      const { id } = await place({ owner, sandboxId: null, newId: clock.id() })
      const key = await access.openSandbox(id, owner)
      open(id, AbortSignal.timeout(limits.start.steps.WAITING_FOR_SANDBOX)).catch((error: unknown) =>
        parts.log('A sandbox could not be started.', { id, error }),
      )
      return { ...record(await own(owner, id)), session_api_key: key }
    },

    async pause(owner: string, id: string) {
      const row = await own(owner, id, 'pause')
      if (row.status !== 'PAUSED') await pause(row, 'Paused by its owner.')
      return { success: true as const, status: 'PAUSED' as const, message: 'Sandbox paused' }
    },

    async resume(owner: string, id: string) {
      const row = await own(owner, id, 'resume')
      await place({ owner, sandboxId: row.id, newId: row.id })
      await access.openSandbox(id, owner)
      open(id, AbortSignal.timeout(limits.start.steps.WAITING_FOR_SANDBOX)).catch((error: unknown) =>
        parts.log('A sandbox could not be resumed.', { id, error }),
      )
      const status = (await store.get(id))?.status ?? 'MISSING'
      return { success: true as const, status, message: 'Sandbox resume requested' }
    },

    /** Gone for its owner at once; what it leaves behind is cleared away until it is really gone. */
    async remove(owner: string, id: string): Promise<{ success: true }> {
      await own(owner, id)
      await this.discard(id)
      return { success: true }
    },

    async discard(id: string): Promise<void> {
      await store.change(id, ['STARTING', 'RUNNING', 'PAUSED', 'ERROR', 'MISSING'], {
        wanted: 'removed',
        status: 'MISSING',
      })
      parts.wake.tell(sandboxTopic(id))
      await access.closeSandbox(id)
      await driver.remove(id).then(
        () => store.delete(id),
        (error: unknown) => parts.log('A sandbox could not be removed; it is tried again.', { id, error }),
      )
    },
  }
}

const refused = (status: SandboxStatus, code: 'gone' | 'state_conflict'): Problem =>
  code === 'gone'
    ? new Problem('gone', 'The sandbox no longer exists.')
    : new Problem('state_conflict', `The sandbox is ${status}.`, { members: { current_state: status } })

const recordOf =
  (links: Pick<PortLinks, 'exposed'>) =>
  (row: SandboxRow): Sandbox => ({
    id: row.id,
    created_by_user_id: row.owner_id,
    sandbox_spec_id: row.spec_id,
    status: row.status,
    status_detail: row.status_detail,
    session_api_key: null,
    exposed_urls: row.status === 'RUNNING' ? links.exposed(row.id) : null,
    created_at: row.created_at,
    last_used_at: row.last_used_at,
  })
