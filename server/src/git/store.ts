import type { GitProvider } from '@parley/contract/git-provider'
import type { Database } from '@parley/store/database'

export interface ConnectionRow {
  owner_id: string
  kind: GitProvider
  /** Base URL of the forge, without a slash at the end. */
  host: string
  /** Login at the forge. */
  account: string
  sealed_token: string
  created_at: string
  updated_at: string
}

export type GitStore = ReturnType<typeof gitStore>

export function gitStore(database: Database) {
  const db = database.withTables<{ forge_connection: ConnectionRow }>()
  return {
    list: (owner: string): Promise<ConnectionRow[]> =>
      db.selectFrom('forge_connection').selectAll().where('owner_id', '=', owner).orderBy('kind').execute(),

    find: (owner: string, kind: GitProvider): Promise<ConnectionRow | undefined> =>
      db
        .selectFrom('forge_connection')
        .selectAll()
        .where('owner_id', '=', owner)
        .where('kind', '=', kind)
        .executeTakeFirst(),

    /** Writes `rows`; with `alone` the owner's other connections go, all in one transaction. */
    async put(owner: string, rows: ConnectionRow[], alone: boolean): Promise<void> {
      await database.transaction(async (tx) => {
        const trx = tx.withTables<{ forge_connection: ConnectionRow }>()
        const kept = rows.map((row) => row.kind)
        if (alone) {
          const others = trx.deleteFrom('forge_connection').where('owner_id', '=', owner)
          await (kept.length === 0 ? others : others.where('kind', 'not in', kept)).execute()
        }
        for (const row of rows) {
          const { host, account, sealed_token, updated_at } = row
          await trx
            .insertInto('forge_connection')
            .values(row)
            .onConflict((on) =>
              on.columns(['owner_id', 'kind']).doUpdateSet({ host, account, sealed_token, updated_at }),
            )
            .execute()
        }
      })
    },

    /** Of one kind, or all. */
    async remove(owner: string, kind: GitProvider | null): Promise<void> {
      const rows = db.deleteFrom('forge_connection').where('owner_id', '=', owner)
      await (kind === null ? rows : rows.where('kind', '=', kind)).execute()
    },
  }
}
