import { type Database, json } from '@parley/store/database'
import { sql } from 'kysely'
import type { ConversationRow, HeadRow } from '../store.ts'
import { runJob } from '../topics.ts'

/** A sub-agent as its parent sees it; `at_work`: a run of it is under way or asked for. */
export type ChildRow = Pick<ConversationRow, 'parent_id' | 'config' | 'sandbox_id'> & HeadRow & { at_work: boolean }

export type ChildStore = ReturnType<typeof childStore>

export const childStore = (database: Database) => ({
  async child(id: string): Promise<ChildRow | undefined> {
    const rows = await database.rows(sql<ChildRow>`
      select h.*, c.parent_id, c.config, c.sandbox_id,
        exists (select 1 from job j where j.kind = ${runJob} and j.key = ${id}) as at_work
      from conversation_head h join conversation c on c.id = h.conversation_id where h.conversation_id = ${id}`)
    return rows[0]
  },

  async setConfig(id: string, config: unknown): Promise<void> {
    await database.rows(sql`update conversation set config = ${json(config)} where id = ${id}`)
  },
})
