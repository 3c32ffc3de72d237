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
  replaced_by: string | null
}

interface SessionRow {
  id: string
  hash: Buffer
  user_id: string
  created_at: string
  last_seen_at: string
  /** Moves on with each use, up to `ends_at`. */
  expires_at: string
  ends_at: string
}

interface Tables {
  api_key: KeyRow
  sandbox_key: { sandbox_id: string; owner_id: string; hash: Buffer }
  browser_session: SessionRow
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
      db
        .selectFrom('api_key')
        .selectAll()
        .where('owner_id', '=', owner)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute(),

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

    /** Puts `row` in the place of the key `id`, which ends at `at`. False when that key is gone or has been replaced. */
    replaceKey: (row: KeyRow, id: string, at: string): Promise<boolean> =>
      database.transaction(async (tx) => {
        const rows = tx.withTables<Tables>()
        const done = await rows
          .updateTable('api_key')
          .set({
            replaced_by: row.id,
            expires_at: sql<string>`least(coalesce(expires_at, ${at}::timestamptz), ${at}::timestamptz)`,
          })
          .where('owner_id', '=', row.owner_id)
          .where('id', '=', id)
          .where('replaced_by', 'is', null)
          .executeTakeFirst()
        if (done.numUpdatedRows === 0n) return false
        await rows.insertInto('api_key').values(row).execute()
        return true
      }),

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

    async insertSession(row: SessionRow): Promise<void> {
      await db.insertInto('browser_session').values(row).execute()
    },

    async seen(id: string, at: string, expiresAt: string): Promise<void> {
      await db
        .updateTable('browser_session')
        .set({ last_seen_at: at, expires_at: sql<string>`least(ends_at, ${expiresAt}::timestamptz)` })
        .where('id', '=', id)
        .execute()
    },

    /** Which of these keys and sessions still open a door, each as `kind id`. */
    async stillGood(asked: readonly { kind: 'key' | 'session'; id: string }[]): Promise<Set<string>> {
      const idsOf = (kind: string) => asked.filter((one) => one.kind === kind).map(({ id }) => id)
      const rows = await database.rows(sql<{ name: string }>`
        select 'key ' || id as name from api_key
          where id = any(${idsOf('key')}::uuid[]) and (expires_at is null or expires_at > now())
        union all
        select 'session ' || id from browser_session where id = any(${idsOf('session')}::uuid[]) and expires_at > now()`)
      return new Set(rows.map(({ name }) => name))
    },

    sessions: (user: string, now: string): Promise<Omit<SessionRow, 'hash'>[]> =>
      db
        .selectFrom('browser_session')
        .select(['id', 'user_id', 'created_at', 'last_seen_at', 'expires_at', 'ends_at'])
        .where('user_id', '=', user)
        .where('expires_at', '>', now)
        .orderBy('last_seen_at', 'desc')
        .limit(100)
        .execute(),

    /** False when the person has no such session. */
    async deleteOwnSession(user: string, id: string): Promise<boolean> {
      const done = await db
        .deleteFrom('browser_session')
        .where('user_id', '=', user)
        .where('id', '=', id)
        .executeTakeFirst()
      return done.numDeletedRows === 1n
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
      return (await db.selectFrom('server_secret').select('sealed').where('name', '=', name).executeTakeFirstOrThrow())
        .sealed
    },
  }
}
