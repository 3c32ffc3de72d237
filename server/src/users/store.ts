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
  /** Issuer and subject of the identity provider. */
  sso_subject: string | null
}

export interface InvitationRow {
  id: string
  email: string
  hash: Buffer
  created_at: string
  expires_at: string
  accepted_at: string | null
}

/** As the owner of the server sees a person. */
export type PersonRow = Omit<UserRow, 'password_hash' | 'sso_subject'> & {
  has_password: boolean
  last_seen_at: string | null
}

interface Tables {
  app_user: UserRow & { updated_at: string }
  invitation: InvitationRow
  one_time_token: { hash: Buffer; purpose: string; user_id: string; expires_at: string }
}

type Rows = ReturnType<typeof userRows>
export type UserStore = Transactional<Rows>

export const userStore = (database: Database): UserStore => transactional(database, userRows)

const columns = ['id', 'email', 'password_hash', 'name', 'role', 'created_at', 'sso_subject'] as const

function userRows(database: Database) {
  const db = database.withTables<Tables>()
  return {
    get: (id: string): Promise<UserRow | undefined> =>
      db
        .selectFrom('app_user')
        .select([...columns])
        .where('id', '=', id)
        .executeTakeFirst(),

    owner: (): Promise<UserRow | undefined> =>
      db
        .selectFrom('app_user')
        .select([...columns])
        .where('role', '=', 'owner')
        .executeTakeFirst(),

    byEmail: (email: string): Promise<UserRow | undefined> =>
      db
        .selectFrom('app_user')
        .select([...columns])
        .where(sql<boolean>`lower(email) = lower(${email})`)
        .executeTakeFirst(),

    /** The owner first, then as they came. The last use is that of a browser or of a key. */
    people: (): Promise<PersonRow[]> =>
      database.rows(sql<PersonRow>`
        select p.id, p.email, p.name, p.role, p.created_at, p.password_hash is not null as has_password, greatest(
          (select max(last_seen_at) from browser_session where user_id = p.id),
          (select max(last_used_at) from api_key where owner_id = p.id)) as last_seen_at
        from app_user p order by p.role = 'owner' desc, p.created_at, p.id limit 1000`),

    /** Makes `id` the owner in the place of `from`. False when there is no such person. */
    async handOver(from: string, id: string): Promise<boolean> {
      await sql`update app_user set role = 'member', updated_at = now() where id = ${from} and role = 'owner'`.execute(
        db,
      )
      const done = await sql`update app_user set role = 'owner', updated_at = now() where id = ${id}`.execute(db)
      return done.numAffectedRows === 1n
    },

    /** Everything of theirs goes too, by foreign keys. False when there is no such member. */
    async deleteMember(id: string): Promise<boolean> {
      const done = await sql`delete from app_user where id = ${id} and role = 'member'`.execute(db)
      return done.numAffectedRows === 1n
    },

    bySubject: (subject: string): Promise<UserRow | undefined> =>
      db
        .selectFrom('app_user')
        .select([...columns])
        .where('sso_subject', '=', subject)
        .executeTakeFirst(),

    /** There is one owner: whoever comes second is told nothing and finds the first. */
    async insertOwner(id: string): Promise<void> {
      await sql`insert into app_user (id, role) values (${id}, 'owner') on conflict do nothing`.execute(db)
    },

    /** False when somebody has this e-mail. */
    async insertMember(id: string, email: string): Promise<boolean> {
      const { numAffectedRows } =
        await sql`insert into app_user (id, email, role) values (${id}, ${email}, 'member') on conflict do nothing`.execute(
          db,
        )
      return numAffectedRows === 1n
    },

    /** The owner's e-mail, where the owner has none yet. */
    async setOwnerEmail(email: string): Promise<void> {
      await sql`update app_user set email = ${email} where role = 'owner' and email is null
        and not exists (select from app_user where lower(email) = lower(${email}))`.execute(db)
    },

    async update(
      id: string,
      change: Partial<Pick<UserRow, 'email' | 'password_hash' | 'name' | 'sso_subject'>>,
    ): Promise<UserRow | undefined> {
      return db
        .updateTable('app_user')
        .set({ ...change, updated_at: sql`now()` })
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

    invitations: (): Promise<InvitationRow[]> =>
      db.selectFrom('invitation').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').execute(),

    /** Takes the place of an open one for the same address. */
    async putInvitation(row: InvitationRow): Promise<void> {
      await sql`delete from invitation where lower(email) = lower(${row.email}) and accepted_at is null`.execute(db)
      await db.insertInto('invitation').values(row).execute()
    },

    async deleteInvitation(id: string): Promise<boolean> {
      const done = await db.deleteFrom('invitation').where('id', '=', id).executeTakeFirst()
      return done.numDeletedRows === 1n
    },

    /** Whom the invitation was for; it is used up by this. */
    async useInvitation(hash: Buffer, at: string): Promise<string | undefined> {
      const row = await db
        .updateTable('invitation')
        .set({ accepted_at: at })
        .where('hash', '=', hash)
        .where('accepted_at', 'is', null)
        .where('expires_at', '>', at)
        .returning('email')
        .executeTakeFirst()
      return row?.email
    },
  }
}
