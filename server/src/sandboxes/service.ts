import { Problem } from '@parley/contract/problems'
import {
  type Sandbox,
  sandboxAllows,
  type SandboxStatus,
  type SandboxVerb,
  sandboxRefusal,
} from '@parley/contract/sandboxes'
import type { Driver, Hands } from '@parley/sandbox/driver'
import type { Clock } from '@parley/store/clock'
import type { Cursor } from '@parley/store/page'
import { leaverOf, type LeaveParts } from './leave.ts'
import { type Opening, type OpenParts, opener } from './open.ts'
import { placeIn } from './place.ts'
import type { PortLinks } from './port-links.ts'
import { builtInSpec } from './spec.ts'
import type { SandboxRow, SandboxStore, Seen } from './store.ts'
import { whereOf } from './where.ts'

export { sandboxTopic } from './leave.ts'
export { projectIn } from './spec.ts'

/*
 * A row says what is wanted and what was seen; the driver makes it so. A sandbox that is RUNNING may have no process for the
 * moment (the server was restarted): it is opened again when somebody needs it, and its files were never away.
 */

export interface SandboxParts extends OpenParts, Omit<LeaveParts, 'settled'> {
  clock: Clock
  /** Ids of what may be asked for; images by their names, the usual one first, none where sandboxes have no image. */
  specs: readonly string[]
  images: readonly string[]
  cursor: Cursor
  links: Pick<PortLinks, 'exposed'>
}

export type Sandboxes = ReturnType<typeof sandboxService>

export function sandboxService(parts: SandboxParts) {
  const { store, driver, access, clock, cursor, limits, images } = parts
  const record = recordOf(parts.links)
  const { open, settled } = opener(parts)
  const leave = leaverOf({ ...parts, settled })

  async function own(owner: string, id: string, verb?: SandboxVerb): Promise<SandboxRow> {
    const row = await store.get(id)
    if (row === undefined || row.owner_id !== owner || row.wanted === 'removed') throw new Problem('not_found')
    const refusal = verb && sandboxRefusal(row.status, verb)
    if (refusal !== undefined) throw refused(row.status, refusal, verb)
    return row
  }

  const place = placeIn({ store, clock, limits, pause: leave.pauseNow })

  return {
    ...leave,
    ...whereOf(parts),
    own,

    /** A sandbox for new work: the one that is asked for, or a new one. Nothing runs in it yet. */
    place,
    /** The spec of a sandbox from this image, null: the usual one. Throws when the image is not offered. */
    specFor(image: string | null): string {
      if (image === null || images[0] === undefined || image === images[0]) return builtInSpec.id
      if (parts.specs.includes(image)) return image
      throw new Error(`the image ${image} is not offered here; there are ${images.join(', ')}`)
    },

    /** Resolves when it can be worked in: starts it, opens it again or resumes it. */
    async ready(id: string, signal: AbortSignal, how: Opening = {}): Promise<Hands> {
      await open(id, signal, how)
      return driver.hands(id)
    },

    /** Opens it when it has no process. Rejects with `state_conflict` while it is PAUSED, with `gone` when it is lost. */
    async hands(owner: string, id: string | null, signal: AbortSignal, opening: Opening = {}): Promise<Hands> {
      if (id === null) throw new Problem('gone', 'The sandbox no longer exists.')
      const row = await store.get(id)
      if (row === undefined || row.owner_id !== owner) throw new Problem('gone', 'The sandbox no longer exists.')
      if (!sandboxAllows(row.status, 'use'))
        throw refused(row.status, sandboxRefusal(row.status, 'use') ?? 'state_conflict')
      await open(id, signal, opening)
      return driver.hands(id)
    },

    /** Of those that exist; an absent one is MISSING. `wanted` tells one that is on its way to a pause or gone. */
    async statuses(ids: readonly string[]): Promise<Map<string, Pick<SandboxRow, Seen>>> {
      return new Map((await store.many(ids)).map((row) => [row.id, row]))
    },

    ...notesIn(store),
    ...factsOf(driver),

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
    async create(owner: string, specId: string | undefined, once?: string): Promise<Sandbox> {
      if (specId !== undefined && !parts.specs.includes(specId))
        throw new Problem('not_found', 'There is no such sandbox spec.')
      const { id } = await place({ owner, sandboxId: null, newId: once ?? clock.id(), spec: specId ?? builtInSpec.id })
      const key = await access.openSandbox(id, owner)
      open(id, AbortSignal.timeout(limits.start.steps.WAITING_FOR_SANDBOX)).catch((error: unknown) =>
        parts.log('A sandbox could not be started.', { id, error }),
      )
      return { ...record(await own(owner, id)), session_api_key: key }
    },

    async pause(owner: string, id: string) {
      const row = await own(owner, id, 'pause')
      if (row.status !== 'PAUSED') await leave.pauseNow(row, 'Paused by its owner.')
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
    async remove(owner: string, id: string, said = id): Promise<{ success: true }> {
      if (said !== id) throw new Problem('validation_error', 'sandbox_id is not the id in the path: leave it out.')
      // What is kept of its files is kept before the transaction around begins.
      await parts.database.apart(() => own(owner, id))
      await leave.discard(id)
      return { success: true }
    },
  }
}

/** What is remembered of a sandbox for those who work in it. */
const notesIn = (store: SandboxStore) => ({
  touch: (id: string, busyMs = 0): Promise<void> => store.touch(id, busyMs),
  allow: store.allow,
  ask: store.ask,
  repositories: store.repositories,
})

const factsOf = ({ workspaceOf, warning }: Driver) => ({
  /** Where its workspace lies for the programs in it. */
  workspaceOf,
  /** What everybody who works in one should know; null when there is nothing. */
  warning,
})

function refused(status: SandboxStatus, code: 'gone' | 'state_conflict', verb?: SandboxVerb): Problem {
  if (code === 'gone') return new Problem('gone', 'The sandbox no longer exists.')
  const only = verb === 'resume' ? '; only a PAUSED sandbox can be resumed' : ''
  return new Problem('state_conflict', `The sandbox is ${status}${only}.`, { members: { current_state: status } })
}

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
