import { sql } from 'kysely'
import type { Database } from './database.ts'

/** The statements about jobs. All times are the database's, so that replicas with wrong clocks agree. */
export type JobRows = ReturnType<typeof jobRows>

export interface Spawn {
  id: string
  kind: string
  /** Unique among the jobs of the kind that are not done. */
  key: string
  input: unknown
  /** Not before this many milliseconds from now. */
  delayMs?: number
  /** The replica that alone may run it while that replica lives. */
  affinity?: string | null
}

/** A row as claimed: `attempt` counts from 1, `epoch` grows with every claim of any job. */
export interface Claimed {
  id: string
  kind: string
  key: string
  input: unknown
  attempt: number
  epoch: number
  last_error: string | null
}

export interface Inserted {
  id: string
  spawned: boolean
  epoch: number
}

type Held = Pick<Claimed, 'id' | 'epoch'>
export type LeaseState = 'renewed' | 'held' | 'lost'

/** A replica that has been silent this long is dead. */
const silence = sql`interval '5 seconds'`

export function jobRows(database: Database, me: { replica: string; owner: string; leaseMs: number }) {
  const lease = sql`make_interval(secs => ${me.leaseMs / 1000}::float8)`
  return {
    /**
     * Of different keys; answered in their order, with the epoch of those that are new and `taken`: claimed by the statement
     * that adds them. The conflict's update changes nothing, but it locks the row, so the job cannot end before this
     * transaction does.
     */
    async insert(tx: Database, jobs: readonly (Spawn & { taken: boolean })[]): Promise<Inserted[]> {
      const of = <T>(read: (job: Spawn & { taken: boolean }) => T) => jobs.map(read)
      const rows = await tx.rows<Inserted & { kind: string; key: string }>(sql`
        insert into job (id, kind, key, input, run_at, affinity, attempt, epoch, lease_owner, lease_until)
        select id, kind, key, input::jsonb, clock_timestamp() + make_interval(secs => delay), affinity,
          case when taken then 1 else 0 end, case when taken then nextval('job_epoch') else 0 end,
          case when taken then ${me.owner} end, case when taken then clock_timestamp() + ${lease} end
        from unnest(${of(({ id }) => id)}::uuid[], ${of(({ kind }) => kind)}::text[], ${of(({ key }) => key)}::text[],
          ${of(({ input }) => JSON.stringify(input ?? null))}::text[], ${of(({ delayMs = 0 }) => delayMs / 1000)}::float8[],
          ${of(({ affinity }) => affinity ?? null)}::text[], ${of(({ taken }) => taken)}::bool[])
          as new (id, kind, key, input, delay, affinity, taken)
        on conflict (kind, key) do update set key = excluded.key
        returning id, kind, key, epoch, xmax = 0 as spawned`)
      const found = new Map(rows.map((row) => [`${row.kind} ${row.key}`, row]))
      return jobs.map(({ id, kind, key }) => found.get(`${kind} ${key}`) ?? { id, spawned: false, epoch: 0 })
    },

    /** Claims up to `slots` due jobs of each kind, the longest due first, and tells how long until the next is due. */
    async claim(free: { kind: string; slots: number }[]): Promise<{ jobs: Claimed[]; nextMs: number }> {
      const kinds = free.map(({ kind }) => kind)
      const slots = free.map((one) => one.slots)
      const [found] = await database.rows<{ jobs: Claimed[]; next_ms: number | null }>(sql`
        with picked as (
          select due.id
          from unnest(${kinds}::text[], ${slots}::int[]) as free (kind, slots)
          cross join lateral (
            select id from job
            where job.kind = free.kind and greatest(run_at, lease_until) <= now() and (
              affinity is null or affinity = ${me.replica}
              or not exists (select from replica where replica.id = affinity and seen_at > now() - ${silence}))
            order by greatest(run_at, lease_until)
            limit free.slots
            for update skip locked
          ) as due
        ), claimed as (
          update job set epoch = nextval('job_epoch'), attempt = attempt + 1, lease_owner = ${me.owner}, lease_until = now() + ${lease}
          from picked where job.id = picked.id
          returning job.*
        )
        select
          coalesce((select json_agg(json_build_object('id', id, 'kind', kind, 'key', key, 'input', input,
            'attempt', attempt, 'epoch', epoch, 'last_error', last_error)) from claimed), '[]') as jobs,
          (select extract(epoch from min(greatest(run_at, lease_until)) - now()) * 1000 from job
            where kind = any(${kinds}::text[]) and greatest(run_at, lease_until) > now()
              and greatest(run_at, lease_until) < now() + interval '2 seconds') as next_ms`)
      return { jobs: found?.jobs ?? [], nextMs: found?.next_ms ?? Number.POSITIVE_INFINITY }
    },

    /** A row that a transaction has locked is passed over, so that one slow transaction does not cost all leases. */
    async beat(held: Held[]): Promise<(row: Held) => LeaseState> {
      const ids = held.map(({ id }) => id)
      const epochs = held.map(({ epoch }) => epoch)
      const found = await database.rows<Held & { renewed: boolean }>(sql`
        with alive as (
          insert into replica values (${me.replica}, now()) on conflict (id) do update set seen_at = now()
        ), buried as (
          delete from replica where seen_at < now() - interval '1 day'
        ), mine as (
          select job.id, job.epoch from job join unnest(${ids}::uuid[], ${epochs}::bigint[]) as held (id, epoch)
            on job.id = held.id and job.epoch = held.epoch
        ), free as (
          select id from job where id in (select id from mine) for update skip locked
        ), renewed as (
          update job set lease_until = now() + ${lease} from mine join free using (id)
          where job.id = mine.id and job.epoch = mine.epoch returning job.id
        )
        select mine.id, mine.epoch, renewed.id is not null as renewed from mine left join renewed using (id)`)
      const states = new Map(found.map(({ id, epoch, renewed }) => [`${id} ${epoch}`, renewed]))
      return ({ id, epoch }) => {
        const renewed = states.get(`${id} ${epoch}`)
        return renewed === undefined ? 'lost' : renewed ? 'renewed' : 'held'
      }
    },

    /** Deletes the row when it is still this claim's. */
    async remove(tx: Database, { id, epoch }: Held): Promise<boolean> {
      return (await tx.rows(sql`delete from job where id = ${id} and epoch = ${epoch} returning id`)).length === 1
    },

    async retry({ id, epoch }: Held, delayMs: number, error: string): Promise<void> {
      await database.rows(sql`
        update job set run_at = now() + make_interval(secs => ${delayMs / 1000}::float8), lease_until = null, last_error = ${error}
        where id = ${id} and epoch = ${epoch}`)
    },

    /** The attempt that could do nothing yet does not count. */
    async postpone({ id, epoch }: Held, delayMs: number): Promise<void> {
      await database.rows(sql`
        update job set run_at = now() + make_interval(secs => ${delayMs / 1000}::float8), lease_until = null, attempt = attempt - 1
        where id = ${id} and epoch = ${epoch}`)
    },

    /** Free for others at once. The attempt that a stop cut short does not count. */
    async handBack({ id, epoch }: Held): Promise<void> {
      await database.rows(sql`
        update job set lease_until = now(), attempt = attempt - 1, epoch = nextval('job_epoch') where id = ${id} and epoch = ${epoch}`)
    },

    /** All that this process still holds; and it is no longer alive for the jobs that only it may run. */
    async handBackAll(): Promise<void> {
      await database.rows(sql`
        with gone as (delete from replica where id = ${me.replica})
        update job set lease_until = now(), attempt = attempt - 1, epoch = nextval('job_epoch')
        where lease_owner = ${me.owner} and lease_until > now()`)
    },
  }
}
