import type { UserRole } from '@parley/contract/users'
import type { Database } from '@parley/store/database'
import { type Transactional, transactional } from '@parley/store/transactional'
import { sql } from 'kysely'

export interface UserRow {
  id: string
  email: string | null
  password_hash: string | null
  name: string | null
  role: UserRole
  created_at: string
}

interface Tables {
  app_user: UserRow
  one_time_token: { hash: Buffer; purpose: string; user_id: string; expires_at: string }
}

type Rows = ReturnType<typeof userRows>
export type UserStore = Transactional<Rows>

export const userStore = (database: Database): UserStore => transactional(database, userRows)

const columns = ['id', 'email', 'password_hash', 'name', 'role', 'created_at'] as const

function userRows(database: Database) {
  const db = database.withTables<Tables>()
  return {
    get: (id: string): Promise<UserRow | undefined> =>
      db.selectFrom('app_user').select([...columns]).where('id', '=', id).executeTakeFirst(),

    owner: (): Promise<UserRow | undefined> =>
      db.selectFrom('app_user').select([...columns]).where('role', '=', 'owner').executeTakeFirst(),

    byEmail: (email: string): Promise<UserRow | undefined> =>
      db
        .selectFrom('app_user')
        .select([...columns])
        .where(sql<boolean>`lower(email) = lower(${email})`)
        .executeTakeFirst(),

    /** There is one owner: whoever comes second is told nothing and finds the first. */
    async insertOwner(id: string): Promise<void> {
      await sql`insert into app_user (id, role) values (${id}, 'owner') on conflict do nothing`.execute(db)
    },

    async insertMember(id: string, email: string): Promise<void> {
      await sql`insert into app_user (id, email, role) values (${id}, ${email}, 'member') on conflict do nothing`.execute(db)
    },

    async update(id: string, change: Partial<Pick<UserRow, 'email' | 'password_hash' | 'name'>>): Promise<UserRow | undefined> {
      return db
        .updateTable('app_user')
        .set({ ...change, ...{ updated_at: sql`now()` } })
        .where('id', '=', id)
        .returning([...columns])
        .executeTakeFirst()
    },

    async putToken(hash: Buffer, purpose: string, user: string, expiresAt: string): Promise<void> {
      await sql`delete from one_time_token where purpose = ${purpose} and user_id = ${user}`.execute(db)
      await db.insertInto('one_time_token').values({ hash, purpose, user_id: user, expires_at: expiresAt }).execute()
    },

    /** Whom the token was for; it is used up by this. */
    async useToken(hash: Buffer, purpose: string): Promise<string | undefined> {
      const rows = await database.rows(sql<{ user_id: string }>`
        delete from one_time_token where hash = ${hash} and purpose = ${purpose} and expires_at > now() returning user_id`)
      return rows[0]?.user_id
    },
  }
}
