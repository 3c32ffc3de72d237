import { conversationStore } from '@parley/server/conversations/store'
import { eventStore } from '@parley/server/events/store'
import { migrations } from '@parley/server/migrations/migrations'
import { openTestDatabase } from '@parley/store/testing'
import { sql } from 'kysely'
import type { Row } from './measure.ts'
import { p50, p95, timed } from './measure.ts'

/** Reads from a database as large as a busy service's: a million conversations of a thousand people, a million events in one. */
export async function scaleRows(conversations: number, events: number): Promise<Row[]> {
  await using test = await openTestDatabase(migrations)
  const { database } = test
  await fill(database, conversations, events)
  const store = conversationStore(database)
  const log = eventStore(database)
  const owner = (n: number) => id('a', 1 + ((n * 37) % 1_000))
  const filters = { include_sub_conversations: false }
  const middle = { at: '2026-06-01T00:00:00.000Z', id: id('c', 1) }
  const big = id('c', 1)
  const row = (what: string, values: number[], goal: string): Row => ({
    what,
    unit: 'ms',
    p50: p50(values),
    p95: p95(values),
    floor: null,
    floorIs: '',
    goal,
  })
  const page = (n: number, after: typeof middle | null) => store.page(owner(n), filters, 'CREATED_AT_DESC', after, 101)
  const read = (above: number) => log.page(big, {}, { above, below: null, descending: false, limit: 101 })
  return [
    row(`search over ${conversations} conversations, first page`, await timed(300, (n) => page(n, null)), 'p95 < 15'),
    row('the same, from the middle', await timed(300, (n) => page(n, middle)), 'p95 < 15'),
    row('count of one person', await timed(100, (n) => store.count(owner(n), filters)), ''),
    row(`page of ${events} events, at random depth`, await timed(300, (n) => read((n * 7_919) % events)), 'p95 < 10'),
  ]
}

/** As a UUID of our version, numbered. */
const id = (kind: string, n: number): string =>
  `019a${kind.repeat(4)}-0000-7000-8000-${n.toString(16).padStart(12, '0')}`

const chunk = 25_000

async function fill(database: Parameters<typeof conversationStore>[0], conversations: number, events: number) {
  const uuid = (kind: string) => sql.raw(`('019a${kind.repeat(4)}-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`)
  await database.rows(
    sql`insert into app_user (id, role) select ${uuid('a')}, 'member' from generate_series(1, 1000) n`,
  )
  for (let from = 1; from <= conversations; from += chunk) {
    const to = Math.min(conversations, from + chunk - 1)
    await database.transaction(async (tx) => {
      // Without triggers: this is about reading.
      await tx.rows(sql`set local session_replication_role = replica`)
      await tx.rows(sql`insert into conversation (id, owner_id, title, working_dir, created_at, updated_at)
      select ${uuid('c')}, ('019aaaaa-0000-7000-8000-' || lpad(to_hex(1 + n % 1000), 12, '0'))::uuid, 'Conversation ' || n,
        '/workspace/project', timestamptz '2026-01-01' + n * interval '25 seconds', timestamptz '2026-01-01' + n * interval '25 seconds'
      from generate_series(${from}::int, ${to}::int) n`)
      await tx.rows(sql`insert into conversation_head (conversation_id)
        select ${uuid('c')} from generate_series(${from}::int, ${to}::int) n`)
    })
  }
  for (let from = 1; from <= events; from += chunk) {
    await database.rows(sql`insert into event (conversation_id, seq, id, kind, source, at, body)
      select ${id('c', 1)}::uuid, n, ${uuid('e')}, 'MessageEvent', 'user', now(), repeat('x', 300)
      from generate_series(${from}::int, ${Math.min(events, from + chunk - 1)}::int) n`)
  }
  for (const name of ['conversation', 'conversation_head', 'event'])
    await database.rows(sql`analyze ${sql.table(name)}`)
}
