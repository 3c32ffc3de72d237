import type { AuditAction, AuditEntry } from '@parley/contract/audit'
import type { Database } from '@parley/store/database'

export type AuditStore = ReturnType<typeof auditStore>

/** What becomes known when the call has ended. */
export type AuditEnd = Pick<AuditEntry, 'outcome' | 'object' | 'user_id'>

/** Entries are added, and ended once; the database refuses to change or delete them. */
export function auditStore(database: Database) {
  const db = database.withTables<{ audit_entry: AuditEntry }>()
  return {
    async insert(entry: AuditEntry): Promise<void> {
      await db.insertInto('audit_entry').values(entry).execute()
    },

    async end(id: string, end: AuditEnd): Promise<void> {
      await db.updateTable('audit_entry').set(end).where('id', '=', id).where('outcome', '=', 'begun').execute()
    },

    /** Newest first; of one user, or of all when `user` is null. */
    page(
      user: string | null,
      action: AuditAction | undefined,
      below: string | null,
      limit: number,
    ): Promise<AuditEntry[]> {
      let query = db.selectFrom('audit_entry').selectAll()
      if (user !== null) query = query.where('user_id', '=', user)
      if (action !== undefined) query = query.where('action', '=', action)
      if (below !== null) query = query.where('id', '<', below)
      return query.orderBy('id', 'desc').limit(limit).execute()
    },
  }
}
