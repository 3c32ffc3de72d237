import { createHash, randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { Problem } from '@parley/contract/problems'
import type { OwnerClaim, ProfileUpdate, User } from '@parley/contract/users'
import type { Clock } from '@parley/store/clock'
import type { Access } from '../access/service.ts'
import type { UserRow, UserStore } from './store.ts'

/** People, and how they prove at the page who they are. */

export type Users = ReturnType<typeof userService>

const claimLife = 3_600_000
/** Guessing is slow by argon2; this bounds how much of the machine it may take. */
const guesses = 10
const guessWindow = 60_000

const tokenHash = (token: string): Buffer => createHash('sha256').update(token).digest()
const shown = ({ id, email, name, role, created_at }: UserRow): User => ({ id, email, name, role, created_at })

export interface NewSession {
  user: User
  token: string
  expiresAt: string
}

export function userService({ store, access, clock }: { store: UserStore; access: Access; clock: Clock }) {
  const tried = new Map<string, { count: number; until: number }>()

  function mayTry(from: string): void {
    const now = clock.millis()
    if (tried.size > 10_000) tried.clear()
    const seen = tried.get(from)
    const open = seen !== undefined && seen.until > now ? seen : { count: 0, until: now + guessWindow }
    open.count += 1
    tried.set(from, open)
    if (open.count > guesses)
      throw new Problem('quota_exceeded', 'Too many tries; wait a minute.', { retryAfter: Math.ceil((open.until - now) / 1_000) })
  }

  async function session(row: UserRow): Promise<NewSession> {
    const token = randomBytes(32).toString('base64url')
    return { user: shown(row), token, ...(await access.openSession(row.id, token)) }
  }

  async function checked(row: UserRow | undefined, password: string): Promise<UserRow> {
    // An unknown e-mail takes as long as a wrong password, so that neither can be told from the other.
    const right = await verify(row?.password_hash ?? nobodysHash, password).catch(() => false)
    if (row === undefined || row.password_hash === null || !right) throw new Problem('sign_in_failed')
    return row
  }

  return {
    /** The owner of this server, made at the first start. */
    async ensureOwner(): Promise<{ id: string; claimed: boolean }> {
      await store.insertOwner(clock.id())
      const owner = await store.owner()
      if (owner === undefined) throw new Error('there is no owner after one was made')
      return { id: owner.id, claimed: owner.password_hash !== null }
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
      const token = randomBytes(32).toString('base64url')
      await store.putToken(tokenHash(token), 'claim', owner, new Date(clock.millis() + claimLife).toISOString())
      return token
    },

    async claim({ token, email, password }: OwnerClaim, from: string): Promise<NewSession> {
      mayTry(from)
      const password_hash = await hash(password)
      const row = await store.transaction(async (rows) => {
        const id = await rows.useToken(tokenHash(token), 'claim')
        if (id === undefined) throw new Problem('gone', 'This link has been used or is too old. A start of the server prints a new one.')
        return rows.update(id, { email, password_hash })
      })
      if (row === undefined) throw new Error('the owner is not there')
      return session(row)
    },

    async signIn({ email, password }: { email: string; password: string }, from: string): Promise<NewSession> {
      mayTry(from)
      return session(await checked(await store.byEmail(email), password))
    },

    async changePassword(id: string, keep: string, { old_password, new_password }: { old_password: string; new_password: string }) {
      mayTry(id)
      await checked(await store.get(id), old_password)
      await store.update(id, { password_hash: await hash(new_password) })
      await access.closeSessions(id, keep)
      return { success: true as const }
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
