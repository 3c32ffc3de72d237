import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import type { Who } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import type { OwnerClaim, ProfileUpdate, User } from '@parley/contract/users'
import type { Clock } from '@parley/store/clock'
import type { Access } from '../access/service.ts'
import { oneTimeToken, tokenHash } from './one-time-token.ts'
import type { UserRow, UserStore } from './store.ts'
import type { Tries } from './tries.ts'

/** People, and how they prove at the page who they are. */

export type Users = ReturnType<typeof userService>

const claimLife = 3_600_000
/** Wrong passwords and links in a minute of one address, and for one account whatever the address. */
const allowedTries = 10
const allowedForAccount = 100
/** Passwords that are checked at a time: each takes a core for a twentieth of a second, and 19 MiB. */
const mostChecks = 8

const shown = ({ id, email, name, role, password_hash, created_at }: UserRow): User => ({
  id,
  email,
  name,
  role,
  has_password: password_hash !== null,
  created_at,
})

interface PasswordChange {
  old_password: string | null
  new_password: string
}

export interface NewSession {
  user: User
  token: string
  expiresAt: string
}

interface Parts {
  store: UserStore
  access: Access
  tries: Tries
  clock: Clock
}

export function userService({ store, access, tries, clock }: Parts) {
  let checks = 0
  const linkTry = (from: string) => tries({ [`address ${from}`]: allowedTries })

  /** Whether the password is that of the row. An unknown person takes as long as a wrong password. */
  async function matches(row: UserRow | undefined, password: string): Promise<boolean> {
    if (checks >= mostChecks) throw new Problem('unavailable', 'Too many people sign in just now.', { retryAfter: 1 })
    checks += 1
    try {
      const right = await verify(row?.password_hash ?? nobodysHash, password)
      return right && row !== undefined && row.password_hash !== null
    } finally {
      checks -= 1
    }
  }

  /** The row if the password is right. Problem `sign_in_failed`, and `quota_exceeded` after too many. */
  async function checked(
    find: () => Promise<UserRow | undefined>,
    password: string,
    from: string,
    account: string,
  ): Promise<UserRow> {
    const made = await tries({
      [`address ${from}`]: allowedTries,
      [`account ${account.toLowerCase()}`]: allowedForAccount,
    })
    const row = await find()
    if (!(await matches(row, password)) || row === undefined) throw new Problem('sign_in_failed')
    await made.right()
    return row
  }

  /** Opens a browser session. */
  async function session(row: UserRow): Promise<NewSession> {
    const token = oneTimeToken()
    return { user: shown(row), token, ...(await access.openSession(row.id, token)) }
  }

  return {
    /** The owner of this server, made at the first start; with this e-mail, unless there is one already. */
    async ensureOwner(email: string | null = null): Promise<{ id: string; claimed: boolean }> {
      await store.insertOwner(clock.id())
      if (email !== null) await store.setOwnerEmail(email)
      const owner = await store.owner()
      if (owner === undefined) throw new Error('there is no owner after one was made')
      return { id: owner.id, claimed: owner.password_hash !== null || owner.sso_subject !== null }
    },

    /** A member with this e-mail, made unless there is one. Who may be one is the caller's to decide. */
    async ensureMember(email: string): Promise<string> {
      await store.insertMember(clock.id(), email)
      const row = await store.byEmail(email)
      if (row === undefined) throw new Error('a member is not there after one was made')
      return row.id
    },

    /** A token for the link with which the owner sets e-mail and password; the one before it is void. Valid for an hour. */
    async claimToken(owner: string): Promise<string> {
      const token = oneTimeToken()
      await store.putToken(tokenHash(token), 'claim', owner, new Date(clock.millis() + claimLife).toISOString())
      return token
    },

    async claim({ token, email, password }: OwnerClaim, from: string): Promise<NewSession> {
      const made = await linkTry(from)
      const password_hash = await hash(password)
      const row = await store.transaction(async (rows) => {
        const id = await rows.useToken(tokenHash(token), 'claim')
        if (id === undefined) return undefined
        const other = await rows.byEmail(email)
        if (other !== undefined && other.id !== id)
          throw new Problem('state_conflict', 'Another person has this e-mail.')
        return rows.update(id, { email, password_hash })
      })
      if (row === undefined)
        throw new Problem('gone', 'This link has been used or is too old. A start of the server prints a new one.')
      await made.right()
      return session(row)
    },

    async signIn({ email, password }: { email: string; password: string }, from: string): Promise<NewSession> {
      return session(await checked(() => store.byEmail(email), password, from, email))
    },

    /**
     * Ends all other sessions of the person; `who` is the one that goes on. A first password is set in the browser: a key is
     * no proof that its person sits there.
     */
    async changePassword(
      who: Pick<Who, 'owner' | 'kind' | 'id'>,
      change: PasswordChange,
      from: string,
    ): Promise<{ success: true }> {
      const row = await store.get(who.owner)
      const isFirst = row?.password_hash === null && who.kind === 'session'
      if (!isFirst) await checked(async () => row, change.old_password ?? '', from, row?.email ?? who.owner)
      await store.update(who.owner, { password_hash: await hash(change.new_password) })
      await access.closeSessions(who.owner, who.id)
      return { success: true }
    },

    session,
    linkTry,

    async isOwner(id: string): Promise<boolean> {
      return (await store.get(id))?.role === 'owner'
    },

    async signOut(who: { owner: string; kind: string; id: string }, everywhere: boolean) {
      if (everywhere) await access.closeSessions(who.owner, null)
      else if (who.kind === 'session') await access.closeSession(who.id)
      return { success: true as const }
    },

    async me(id: string): Promise<User> {
      const row = await store.get(id)
      if (row === undefined) throw new Problem('authentication_error')
      return shown(row)
    },

    async updateMe(id: string, { name }: ProfileUpdate): Promise<User> {
      const row = name === undefined ? await store.get(id) : await store.update(id, { name })
      if (row === undefined) throw new Problem('authentication_error')
      return shown(row)
    },
  }
}

/** Of a password that nobody knows. */
const nobodysHash = await hash(randomBytes(32))
