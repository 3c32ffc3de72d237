import type { Person } from '@parley/contract/people'
import { Problem } from '@parley/contract/problems'
import type { User, UserRole } from '@parley/contract/users'
import type { Access } from '../access/service.ts'
import type { Users } from './service.ts'
import type { UserStore } from './store.ts'

/** Who is on this server, for its owner: seeing them, handing the server over, letting somebody go. */

export type People = ReturnType<typeof peopleOf>

interface Parts {
  store: UserStore
  users: Pick<Users, 'isOwner' | 'me'>
  access: Pick<Access, 'closeSessions'>
}

export function peopleOf({ store, users, access }: Parts) {
  async function mayManage(user: string): Promise<void> {
    if (!(await users.isOwner(user)))
      throw new Problem('insufficient_scope', 'Only the owner of the server may do this.')
  }

  return {
    async list(user: string): Promise<Person[]> {
      await mayManage(user)
      return store.people()
    },

    /** There is one owner, so the role goes from one to the other. */
    async change(user: string, id: string, role: UserRole): Promise<User> {
      await mayManage(user)
      const row = await store.get(id)
      if (row === undefined) throw new Problem('not_found')
      if (row.role === role) return users.me(id)
      if (role === 'member') throw new Problem('state_conflict', 'Make another person the owner first.')
      await store.transaction((rows) => rows.handOver(user, id))
      return users.me(id)
    },

    async remove(user: string, id: string): Promise<{ success: true }> {
      await mayManage(user)
      const row = await store.get(id)
      if (row === undefined) throw new Problem('not_found')
      if (!(await store.deleteMember(id))) throw new Problem('state_conflict', 'The owner cannot be removed.')
      // Keys and sessions went with the row; every replica forgets what it knew of them.
      await access.closeSessions(id, null)
      return { success: true }
    },
  }
}
