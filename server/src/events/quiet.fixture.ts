import type { NewEvent } from '@parley/contract/events'
import { systemClock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import { sql } from 'kysely'
import { newRow } from '../conversations/log/record.ts'
import { logStore } from '../conversations/log/store.ts'

/** A conversation with a paused sandbox and so many events, which nobody works on; gives its id. */
export async function quietConversation(database: Database, owner: string, events = 1): Promise<string> {
  const [id, sandbox] = [systemClock.id(), systemClock.id()]
  await database.rows(sql`insert into sandbox (id, owner_id, spec_id, wanted, status)
    values (${sandbox}, ${owner}, 'default', 'paused', 'PAUSED')`)
  await database.rows(sql`insert into conversation (id, owner_id, sandbox_id, title, working_dir)
    values (${id}, ${owner}, ${sandbox}, 'Quiet', '/workspace')`)
  await database.rows(sql`insert into conversation_head (conversation_id) values (${id})`)
  const rows = Array.from({ length: events }, (_, value) => {
    const event: NewEvent = { kind: 'ConversationStateUpdateEvent', source: 'user', key: 'note', value }
    return newRow(event, systemClock.id(), systemClock.now())
  })
  await logStore(database).append(id, rows, { wants: false, revives: [] })
  return id
}
