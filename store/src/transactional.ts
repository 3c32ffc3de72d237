import type { Database } from './database.ts'

/** A store that can do several of its things as one. */
export type Transactional<Rows> = Rows & {
  /** Commits what `work` did when it returns, takes it back when it throws. `tx` is for what others add to it. */
  transaction<R>(work: (rows: Rows, tx: Database) => Promise<R>): Promise<R>
}

/** A store's functions over the database, and over a transaction of it. */
export const transactional = <Rows>(database: Database, rows: (database: Database) => Rows): Transactional<Rows> => ({
  ...rows(database),
  transaction: (work) => database.transaction((tx) => work(rows(tx), tx)),
})
