import type { Database } from '@parley/store/database'
import { sql } from 'kysely'

/** What an attempt is found by. */
export interface AttemptKey {
  owner: string
  /** Method and path with its `{names}`. */
  route: string
  key: string
}

export interface AttemptRow {
  fingerprint: Buffer
  /** Null while the attempt runs. */
  status: number | null
  headers: Record<string, string> | null
  body: Buffer | null
}

export type IdempotencyStore = ReturnType<typeof idempotencyStore>

const dead = sql`interval '60 seconds'`
const old = sql`interval '24 hours'`

export function idempotencyStore(database: Database) {
  const its = ({ owner, route, key }: AttemptKey) => sql`owner_id = ${owner} and route = ${route} and key = ${key}`
  return {
    /**
     * The id of what is made, when the attempt is ours to make: the first, or one whose maker died (and then it is that
     * one's id), or one that is forgotten by now.
     */
    async begin({ owner, route, key }: AttemptKey, fingerprint: Buffer, id: string): Promise<string | undefined> {
      const rows = await database.rows(sql<{ once_id: string }>`
        insert into idempotent_answer as kept (owner_id, route, key, fingerprint, once_id)
        values (${owner}, ${route}, ${key}, ${fingerprint}, ${id})
        on conflict (owner_id, route, key) do update
          set fingerprint = excluded.fingerprint, status = null, headers = null, body = null, created_at = now(),
            once_id = case when kept.created_at < now() - ${old} then excluded.once_id else kept.once_id end
          where kept.created_at < now() - ${old}
            or (kept.status is null and kept.created_at < now() - ${dead} and kept.fingerprint = excluded.fingerprint)
        returning once_id`)
      return rows[0]?.once_id
    },

    async get(attempt: AttemptKey): Promise<AttemptRow | undefined> {
      const rows = await database.rows(sql<AttemptRow>`
        select fingerprint, status, headers, body from idempotent_answer where ${its(attempt)}`)
      return rows[0]
    },

    /** The first answer stays: a maker that was given up for dead does not overwrite its successor's. */
    async keep(attempt: AttemptKey, answer: { status: number; headers: string; body: Buffer }): Promise<void> {
      await database.rows(sql`
        update idempotent_answer
        set status = ${answer.status}, headers = ${answer.headers}::jsonb, body = ${answer.body}
        where ${its(attempt)} and status is null`)
    },

    async drop(attempt: AttemptKey): Promise<void> {
      await database.rows(sql`delete from idempotent_answer where ${its(attempt)} and status is null`)
    },

    /** Says that these still run. */
    async beat(attempts: readonly AttemptKey[]): Promise<void> {
      const column = (name: keyof AttemptKey) => attempts.map((attempt) => attempt[name])
      await database.rows(sql`
        update idempotent_answer as kept set created_at = now()
        from unnest(${column('owner')}::uuid[], ${column('route')}::text[], ${column('key')}::text[]) as a (owner_id, route, key)
        where kept.owner_id = a.owner_id and kept.route = a.route and kept.key = a.key and kept.status is null`)
    },

    async forget(): Promise<void> {
      await database.rows(sql`delete from idempotent_answer where created_at < now() - ${old}`)
    },
  }
}
