import type { Database } from '@parley/store/database'
import { type Transactional, transactional } from '@parley/store/transactional'
import { sql } from 'kysely'

export interface SecretRow {
  owner_id: string
  name: string
  description: string | null
  sealed_value: string
  hosts: string[] | null
}

const columns = ['owner_id', 'name', 'description', 'sealed_value', 'hosts'] as const

type Rows = ReturnType<typeof secretRows>
export type SecretStore = Transactional<Rows>

export const secretStore = (database: Database): SecretStore => transactional(database, secretRows)

function secretRows(database: Database) {
  const db = database.withTables<{ secret: SecretRow }>()
  return {
    list: (owner: string): Promise<SecretRow[]> =>
      db
        .selectFrom('secret')
        .select(columns)
        .where('owner_id', '=', owner)
        .orderBy(sql`name collate "C"`)
        .execute(),

    async page(
      owner: string,
      part: string | undefined,
      after: string | undefined,
      limit: number,
    ): Promise<SecretRow[]> {
      let query = db.selectFrom('secret').select(columns).where('owner_id', '=', owner)
      if (part !== undefined) query = query.where(sql<boolean>`position(lower(${part}) in lower(name)) > 0`)
      if (after !== undefined) query = query.where(sql<boolean>`name collate "C" > ${after}`)
      return query
        .orderBy(sql`name collate "C"`)
        .limit(limit)
        .execute()
    },

    get: (owner: string, name: string): Promise<SecretRow | undefined> =>
      db
        .selectFrom('secret')
        .select(columns)
        .where('owner_id', '=', owner)
        .where('name', '=', name)
        .forUpdate()
        .executeTakeFirst(),

    /** False when the name is taken: the primary key decides, not a read before the write. */
    async insert(row: SecretRow): Promise<boolean> {
      const done = await db
        .insertInto('secret')
        .values(row)
        .onConflict((on) => on.doNothing())
        .executeTakeFirst()
      return done.numInsertedOrUpdatedRows === 1n
    },

    async put(row: SecretRow): Promise<void> {
      await sql`insert into secret (owner_id, name, description, sealed_value, hosts)
        values (${row.owner_id}, ${row.name}, ${row.description}, ${row.sealed_value}, ${row.hosts})
        on conflict (owner_id, name) do update set description = excluded.description,
          sealed_value = excluded.sealed_value, hosts = excluded.hosts, updated_at = now()`.execute(db)
    },

    async delete(owner: string, name: string): Promise<boolean> {
      const done = await db
        .deleteFrom('secret')
        .where('owner_id', '=', owner)
        .where('name', '=', name)
        .executeTakeFirst()
      return done.numDeletedRows === 1n
    },
  }
}
