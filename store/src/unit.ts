import { AsyncLocalStorage } from 'node:async_hooks'
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'

/*
 * A unit is one transaction for all that happens during a piece of work, at whatever depth: stores ask the pool for a
 * connection as ever, and within a unit they are given the unit's. It begins with its first statement, so that work which
 * asks somebody else first holds no connection while it waits.
 */

export interface Unit {
  /** The one connection of the unit; statements that come at the same time take their turns. */
  readonly lease: PostgresPoolClient
  /** Names no other savepoint of the unit has. */
  savepoint(): string
  afterCommit(fn: () => void): void
  afterRollback(fn: () => Promise<void>): void
}

export interface Units {
  /** Gives out the unit's connection within one. */
  readonly pool: PostgresPool
  /** The unit around, while it is open. */
  around(): Unit | undefined
  /** Commits what `work` did when it returns, takes it back when it throws. Within a unit it joins that one. */
  within<R>(work: () => Promise<R>): Promise<R>
  /** Runs `work` on connections of its own, whatever is around. */
  apart<R>(work: () => R): R
}

interface Open extends Unit {
  isOpen: boolean
  /** Resolves when the transaction has ended and everyone who waits for that has been told. */
  end(commit: boolean): Promise<void>
}

export function unitsOf(pool: PostgresPool): Units {
  const current = new AsyncLocalStorage<Open>()
  const around = () => {
    const unit = current.getStore()
    return unit?.isOpen ? unit : undefined
  }
  const apart = <R>(work: () => R): R => current.exit(work)
  return {
    pool: { ...pool, connect: async () => around()?.lease ?? pool.connect() },
    around,
    apart,
    async within(work) {
      if (around() !== undefined) return work()
      const unit = openUnit(pool, apart)
      try {
        const result = await current.run(unit, work)
        await unit.end(true)
        return result
      } catch (error) {
        await unit.end(false)
        throw error
      }
    },
  }
}

function openUnit(pool: PostgresPool, apart: Units['apart']): Open {
  const committed: (() => void)[] = []
  const undone: (() => Promise<void>)[] = []
  let begun: Promise<PostgresPoolClient> | undefined
  let turn: Promise<unknown> = Promise.resolve()
  let savepoints = 0

  async function begin(): Promise<PostgresPoolClient> {
    const client = await pool.connect()
    try {
      await statement(client, 'begin')
      return client
    } catch (error) {
      client.release(true)
      throw error
    }
  }

  const query = (text: string, values: readonly unknown[] = []) => {
    // Somebody kept the lease for later than the work that it was given for.
    if (!unit.isOpen) return Promise.reject(new Error('The transaction of this work has ended.'))
    const done = turn.then(async () => {
      begun ??= begin()
      return (await begun).query(text, [...values])
    })
    turn = done.catch(() => {})
    return done
  }

  async function close(commit: boolean): Promise<void> {
    await turn
    const client = await begun?.catch(() => undefined)
    if (client === undefined) return
    try {
      const { command } = await statement(client, commit ? 'commit' : 'rollback')
      // PostgreSQL answers a commit after a failed statement with a rollback.
      if (commit && command !== 'COMMIT') throw new Error('A statement of the unit had failed, so nothing was kept.')
      client.release()
    } catch (error) {
      client.release(true)
      if (commit) throw error
    }
  }

  const unit: Open = {
    isOpen: true,
    // Kysely uses these two alone.
    lease: { query: query as PostgresPoolClient['query'], release: () => {} } as PostgresPoolClient,
    savepoint: () => `unit_${(savepoints += 1)}`,
    afterCommit: (fn) => void committed.push(fn),
    afterRollback: (fn) => void undone.push(fn),
    async end(commit) {
      if (!unit.isOpen) return apart(() => tell(undone))
      unit.isOpen = false
      await close(commit)
      if (commit) apart(() => committed.forEach((fn) => fn()))
      else await apart(() => tell(undone))
    },
  }
  return unit
}

const statement = async (client: PostgresPoolClient, text: string) =>
  (await client.query<unknown>(text, [])) as PostgresQueryResult<unknown>

async function tell(fns: readonly (() => Promise<void>)[]): Promise<void> {
  for (const fn of fns) await fn()
}
