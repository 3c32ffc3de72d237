import { Problem } from '@parley/contract/problems'
import { turns } from '@parley/sandbox/turns'
import type { Clock } from '@parley/store/clock'
import type { Limits } from '../limits.ts'
import { builtInSpec } from './spec.ts'
import type { SandboxRow, SandboxStore } from './store.ts'

/*
 * Which sandbox a piece of work gets, and who makes room. STARTING and RUNNING sandboxes of an owner are counted under a lock,
 * so that starts at the same moment cannot exceed the limit together. The victim is at rest if one is, and then the oldest.
 */

export interface Placing {
  owner: string
  /** The one that is asked for; null: a new one. */
  sandboxId: string | null
  /** Id of the new one: given by the caller, so that placing twice makes one. */
  newId: string
  /** Of the new one: the usual one unless said. */
  spec?: string
}

interface Parts {
  store: SandboxStore
  clock: Clock
  limits: Limits
  pause: (row: SandboxRow, reason: string) => Promise<void>
}

export function placeIn({ store, clock, limits, pause }: Parts) {
  const inTurn = turns()

  const placed = ({ owner, sandboxId, newId, spec = builtInSpec.id }: Placing) =>
    store.transaction(async (rows) => {
      await rows.lockOwner(owner)
      const wanted = await rows.get(sandboxId ?? newId)
      if (sandboxId !== null) check(wanted, owner)
      if (wanted !== undefined && wanted.status !== 'PAUSED') return { id: wanted.id, made: false, victims: [] }
      const room = makeRoom(await rows.running(owner), limits.sandboxes.per_user)
      for (const victim of room) await rows.change(victim.id, ['RUNNING'], { wanted: 'paused' })
      const until = new Date(clock.millis() + limits.start.steps.WAITING_FOR_SANDBOX).toISOString()
      const starting = { wanted: 'running', status: 'STARTING', status_until: until } as const
      if (wanted !== undefined) await rows.change(wanted.id, ['PAUSED'], { ...starting, status_detail: null })
      else await rows.insert({ id: newId, owner_id: owner, spec_id: spec, ...starting })
      return { id: wanted?.id ?? newId, made: wanted === undefined, victims: room }
    })

  return async (asked: Placing): Promise<{ id: string; made: boolean }> => {
    // Whoever waits for the lock of the owner holds a connection: here it is one of each owner.
    const { id, made, victims } = await inTurn(asked.owner, () => placed(asked))
    await Promise.all(victims.map((victim) => pause(victim, 'Paused to make room for a newer one.')))
    return { id, made }
  }
}

/**
 * The ones to pause so that one more fits, of those that run. One that is still starting belongs to a start that waits for
 * it: when all of them are, there is no room for now.
 */
export function makeRoom<T extends { status: string }>(counted: readonly T[], limit: number): T[] {
  const needed = Math.max(0, counted.length - limit + 1)
  const victims = counted.filter((one) => one.status === 'RUNNING').slice(0, needed)
  if (victims.length < needed)
    throw new Problem('capacity', 'As many sandboxes as are allowed are starting.', { retryAfter: 2 })
  return victims
}

function check(row: SandboxRow | undefined, owner: string): asserts row is SandboxRow {
  if (row === undefined || row.owner_id !== owner || row.wanted === 'removed')
    throw new Problem('not_found', 'There is no such sandbox.')
  if (row.status === 'ERROR' || row.status === 'MISSING')
    throw new Problem('state_conflict', `The sandbox is ${row.status}.`, { members: { current_state: row.status } })
}
