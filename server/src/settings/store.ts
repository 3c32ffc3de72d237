import type { Database } from '@parley/store/database'
import { type Transactional, transactional } from '@parley/store/transactional'
import { sql } from 'kysely'

export interface SettingsRow {
  owner_id: string
  sealed: string
  version: number
}

type Rows = ReturnType<typeof settingsRows>
export type SettingsStore = Transactional<Rows>

export const settingsStore = (database: Database): SettingsStore => transactional(database, settingsRows)

function settingsRows(database: Database) {
  const db = database.withTables<{ settings: SettingsRow }>()
  return {
    /** Two changes of one owner's settings wait for each other, so that neither forgets the other's. */
    async lock(owner: string): Promise<void> {
      await database.rows(sql`select 1 from app_user where id = ${owner} for update`)
    },

    get: (owner: string): Promise<SettingsRow | undefined> =>
      db
        .selectFrom('settings')
        .select(['owner_id', 'sealed', 'version'])
        .where('owner_id', '=', owner)
        .executeTakeFirst(),

    async put(owner: string, sealed: string): Promise<void> {
      await sql`insert into settings (owner_id, sealed) values (${owner}, ${sealed})
        on conflict (owner_id) do update set sealed = excluded.sealed, version = settings.version + 1, updated_at = now()`.execute(
        db,
      )
    },
  }
}
