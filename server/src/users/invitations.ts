import { hash } from '@node-rs/argon2'
import type { Invitation, NewInvitation } from '@parley/contract/people'
import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'
import { oneTimeToken, tokenHash } from './one-time-token.ts'
import type { NewSession, Users } from './service.ts'
import type { InvitationRow, UserStore } from './store.ts'

/** How the owner lets further people in: a link that works once. Parley sends no mail; the owner hands it on. */

export type Invitations = ReturnType<typeof invitationsOf>

const life = 7 * 24 * 3_600_000

const shown = ({ id, email, created_at, expires_at, accepted_at }: InvitationRow): Invitation => ({
  id,
  email,
  created_at,
  expires_at,
  accepted_at,
})

interface Acceptance {
  token: string
  password: string
  name: string | null
}

export function invitationsOf({
  store,
  users,
  clock,
  baseUrl,
}: {
  store: UserStore
  users: Users
  clock: Clock
  baseUrl: string
}) {
  async function mayInvite(user: string): Promise<void> {
    if (!(await users.isOwner(user)))
      throw new Problem('insufficient_scope', 'Only the owner of the server may do this.')
  }

  return {
    async list(user: string): Promise<Invitation[]> {
      await mayInvite(user)
      return (await store.invitations()).map(shown)
    },

    async create(user: string, wanted: { email: string; expires_at: string | null }): Promise<NewInvitation> {
      await mayInvite(user)
      const expires_at = wanted.expires_at ?? new Date(clock.millis() + life).toISOString()
      if (Date.parse(expires_at) <= clock.millis()) throw new Problem('validation_error', 'expires_at is in the past.')
      const token = oneTimeToken()
      const row: InvitationRow = {
        id: clock.id(),
        email: wanted.email,
        hash: tokenHash(token),
        created_at: clock.now(),
        expires_at,
        accepted_at: null,
      }
      await store.transaction(async (rows) => {
        if (await rows.byEmail(wanted.email)) throw new Problem('state_conflict', 'This person has an account.')
        await rows.putInvitation(row)
      })
      return { ...shown(row), link: `${baseUrl}/join#${token}` }
    },

    async remove(user: string, id: string): Promise<{ success: true }> {
      await mayInvite(user)
      if (!(await store.deleteInvitation(id))) throw new Problem('not_found')
      return { success: true }
    },

    /** Makes the account and signs its person in. */
    async accept({ token, password, name }: Acceptance, from: string): Promise<NewSession> {
      const made = await users.linkTry(from)
      const password_hash = await hash(password)
      const row = await store.transaction(async (rows) => {
        const email = await rows.useInvitation(tokenHash(token), clock.now())
        if (email === undefined) return undefined
        const id = clock.id()
        if (!(await rows.insertMember(id, email))) throw new Problem('gone', 'This person has an account already.')
        return rows.update(id, { password_hash, name })
      })
      if (row === undefined) throw new Problem('gone', 'This link has been used, withdrawn or is too old.')
      await made.right()
      return users.session(row)
    },
  }
}
