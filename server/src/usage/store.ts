import type { Database } from '@parley/store/database'
import { type RawBuilder, sql } from 'kysely'

/** Of which people and since when. */
export interface Asked {
  /** Null: of all. */
  owner: string | null
  since: string
}

export interface SumRow {
  calls: number
  cost: number
  prompt_tokens: number
  completion_tokens: number
  cache_read_tokens: number
}

export type UsageStore = ReturnType<typeof usageStore>

const sums = sql`count(*)::int as calls, sum(u.cost) as cost, sum(u.prompt_tokens)::float8 as prompt_tokens,
  sum(u.completion_tokens)::float8 as completion_tokens, sum(u.cache_read_tokens)::float8 as cache_read_tokens`
const dearest = sql`order by cost desc, prompt_tokens desc`
const most = 50

export function usageStore(database: Database) {
  const calls = ({ owner, since }: Asked) =>
    owner === null
      ? sql`llm_call u where u.at >= ${since}`
      : sql`llm_call u where u.owner_id = ${owner} and u.at >= ${since}`
  /** Added up first, so that what is shown beside a sum is read only for the few that are shown. */
  const by = <Row>(asked: Asked, key: string, shown: RawBuilder<unknown>, from: RawBuilder<unknown>) =>
    database.rows(sql<Row & SumRow>`
      with u as (select ${sql.raw(key)}, ${sums} from ${calls(asked)} group by ${sql.raw(key)} ${dearest} limit ${most})
      select ${shown}, calls, cost, prompt_tokens, completion_tokens, cache_read_tokens from u ${from} ${dearest}`)

  return {
    days: (asked: Asked): Promise<({ day: string } & SumRow)[]> =>
      database.rows(sql<{ day: string } & SumRow>`
        select to_char(u.at at time zone 'UTC', 'YYYY-MM-DD') as day, ${sums} from ${calls(asked)} group by 1 order by 1`),

    models: (asked: Asked): Promise<({ model: string } & SumRow)[]> => by(asked, 'u.model', sql`u.model`, sql``),

    conversations: (asked: Asked): Promise<({ conversation_id: string; title: string | null } & SumRow)[]> =>
      by(
        asked,
        'u.conversation_id',
        sql`u.conversation_id, c.title`,
        sql`left join conversation c on c.id = u.conversation_id`,
      ),

    people: (asked: Asked): Promise<({ user_id: string; name: string | null; email: string | null } & SumRow)[]> =>
      by(asked, 'u.owner_id', sql`p.id as user_id, p.name, p.email`, sql`join app_user p on p.id = u.owner_id`),
  }
}
