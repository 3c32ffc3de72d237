import type { Scope } from '@parley/contract/endpoint'
import type { Database } from '@parley/store/database'
import { sql } from 'kysely'

export interface KeyRow {
  id: string
  owner_id: string
  name: string | null
  hash: Buffer
  last_four: string
  scopes: Scope[]
  created_at: string
  last_used_at: string | null
  expires_at: string | null
}

interface Tables {
  api_key: KeyRow
  sandbox_key: { sandbox_id: string; owner_id: string; hash: Buffer }
  browser_session: { id: string; hash: Buffer; user_id: string; expires_at: string; last_seen_at: string }
  server_secret: { name: string; sealed: string }
}

/** Whoever a hash stands for. */
export interface Holder {
  kind: 'key' | 'sandbox' | 'session'
  id: string
  owner: string
  scopes: Scope[]
  expiresAt: string | null
}

export type AccessStore = ReturnType<typeof accessStore>

export function accessStore(database: Database) {
  const db = database.withTables<Tables>()
  return {
    async keyHolder(hash: Buffer): Promise<Holder | undefined> {
      const row = await db.selectFrom('api_key').selectAll().where('hash', '=', hash).executeTakeFirst()
      if (row === undefined) return undefined
      return { kind: 'key', id: row.id, owner: row.owner_id, scopes: row.scopes, expiresAt: row.expires_at }
    },

    async sandboxHolder(hash: Buffer): Promise<Holder | undefined> {
      const row = await db.selectFrom('sandbox_key').selectAll().where('hash', '=', hash).executeTakeFirst()
      if (row === undefined) return undefined
      return { kind: 'sandbox', id: row.sandbox_id, owner: row.owner_id, scopes: [], expiresAt: null }
    },

    async sessionHolder(hash: Buffer): Promise<Omit<Holder, 'scopes'> | undefined> {
      const row = await db.selectFrom('browser_session').selectAll().where('hash', '=', hash).executeTakeFirst()
      if (row === undefined) return undefined
      return { kind: 'session', id: row.id, owner: row.user_id, expiresAt: row.expires_at }
    },

    keys: (owner: string): Promise<KeyRow[]> =>
      db.selectFrom('api_key').selectAll().where('owner_id', '=', owner).orderBy('created_at', 'desc').orderBy('id', 'desc').execute(),

    key: (owner: string, id: string): Promise<KeyRow | undefined> =>
      db.selectFrom('api_key').selectAll().where('owner_id', '=', owner).where('id', '=', id).executeTakeFirst(),

    /** False when this very key is there already. */
    async insertKey(row: KeyRow): Promise<boolean> {
      const done = await db
        .insertInto('api_key')
        .values(row)
        .onConflict((on) => on.doNothing())
        .executeTakeFirst()
      return done.numInsertedOrUpdatedRows === 1n
    },

    async deleteKey(owner: string, id: string): Promise<boolean> {
      const done = await db.deleteFrom('api_key').where('owner_id', '=', owner).where('id', '=', id).executeTakeFirst()
      return done.numDeletedRows === 1n
    },

    async expireKey(owner: string, id: string, at: string): Promise<void> {
      await db
        .updateTable('api_key')
        .set({ expires_at: sql<string>`least(coalesce(expires_at, ${at}::timestamptz), ${at}::timestamptz)` })
        .where('owner_id', '=', owner)
        .where('id', '=', id)
        .execute()
    },

    async used(id: string, at: string): Promise<void> {
      await db.updateTable('api_key').set({ last_used_at: at }).where('id', '=', id).execute()
    },

    async putSandboxKey(sandbox: string, owner: string, hash: Buffer): Promise<void> {
      await db
        .insertInto('sandbox_key')
        .values({ sandbox_id: sandbox, owner_id: owner, hash })
        .onConflict((on) => on.column('sandbox_id').doUpdateSet({ hash }))
        .execute()
    },

    async deleteSandboxKey(sandbox: string): Promise<void> {
      await db.deleteFrom('sandbox_key').where('sandbox_id', '=', sandbox).execute()
    },

    async insertSession(row: Tables['browser_session']): Promise<void> {
      await db.insertInto('browser_session').values(row).execute()
    },

    async deleteSession(id: string): Promise<void> {
      await db.deleteFrom('browser_session').where('id', '=', id).execute()
    },

    async deleteSessions(user: string, except: string | null): Promise<void> {
      let query = db.deleteFrom('browser_session').where('user_id', '=', user)
      if (except !== null) query = query.where('id', '!=', except)
      await query.execute()
    },

    /** The sealed text that is kept under `name`: the first one that was ever offered, whoever offers first. */
    async serverSecret(name: string, offered: string): Promise<string> {
      await db
        .insertInto('server_secret')
        .values({ name, sealed: offered })
        .onConflict((on) => on.doNothing())
        .execute()
      return (await db.selectFrom('server_secret').select('sealed').where('name', '=', name).executeTakeFirstOrThrow()).sealed
    },
  }
}
