import type { Clock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import { sql } from 'kysely'

/** Windows of a minute, one for each who tries. */
export function tryStore(database: Database, clock: Pick<Clock, 'millis'>) {
  const now = () => sql`to_timestamp(${clock.millis() / 1_000}::float8)`
  return {
    /** Counts one more, whatever becomes of the work around. Answers how many that makes, and for how long they count. */
    async add(who: string): Promise<{ count: number; seconds: number }> {
      const rows = await database.apart(() =>
        database.rows(sql<{ count: number; seconds: number }>`
          with old as (delete from wrong_try where until < ${now()} and who <> ${who})
          insert into wrong_try as t (who, until, count) values (${who}, ${now()} + interval '1 minute', 1)
          on conflict (who) do update set
            count = case when t.until < ${now()} then 1 else t.count + 1 end,
            until = case when t.until < ${now()} then excluded.until else t.until end
          returning count, ceil(extract(epoch from until - ${now()}))::int as seconds`),
      )
      return rows[0] ?? { count: 1, seconds: 60 }
    },

    async remove(who: string): Promise<void> {
      await database.rows(sql`update wrong_try set count = greatest(count - 1, 0) where who = ${who}`)
    },
  }
}
