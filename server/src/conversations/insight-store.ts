import type { Database } from '@parley/store/database'
import { sql } from 'kysely'
import type { EventRow } from './log/store.ts'

export type InsightStore = ReturnType<typeof insightStore>

export function insightStore(database: Database) {
  const columns = sql`seq, id, kind, source, at, body`
  return {
    /** The newest events, newest first. */
    newest: (conversation: string, limit: number): Promise<EventRow[]> =>
      database.rows(sql<EventRow>`
        select ${columns} from event where conversation_id = ${conversation} order by seq desc limit ${limit}`),

    /** What may be the agent's last word, newest first: its messages, and actions that speak of finishing. */
    lastWords: (conversation: string, limit: number): Promise<EventRow[]> =>
      database.rows(sql<EventRow>`
        select ${columns} from event where conversation_id = ${conversation} and source = 'agent'
          and (kind = 'MessageEvent' or (kind = 'ActionEvent' and body like '%"FinishAction"%'))
        order by seq desc limit ${limit}`),
  }
}
