import type { EgressPolicy } from '@parley/contract/egress'
import type { GitProvider } from '@parley/contract/git-provider'
import type { SandboxStatus } from '@parley/contract/sandboxes'
import type { Database } from '@parley/store/database'
import { together } from '@parley/store/together'
import { type Transactional, transactional } from '@parley/store/transactional'
import { CompiledQuery, sql } from 'kysely'

export interface SandboxRow {
  id: string
  owner_id: string
  spec_id: string
  wanted: 'running' | 'paused' | 'removed'
  status: SandboxStatus
  status_detail: string | null
  status_since: string
  status_until: string | null
  /** The server that holds it; null until one has started it. */
  replica: string | null
  created_at: string
  updated_at: string
  last_used_at: string
  busy_until: string
}

/** What a conversation asked for; `settings`: what its owner's settings say. */
export type AskedPolicy = EgressPolicy | 'settings'

interface Tables {
  sandbox_egress: { sandbox_id: string; policy: AskedPolicy }
  sandbox: SandboxRow
  sandbox_repository: { sandbox_id: string; git_provider: GitProvider; repository: string }
}

/** What others want to know of a sandbox. */
export type Seen = 'id' | 'status' | 'wanted' | 'status_detail' | 'replica'

/** Asked with every conversation that is read. */
const seenText = 'select id, status, wanted, status_detail, replica from sandbox where id = any($1::uuid[])'

type Change = Partial<Pick<SandboxRow, 'wanted' | 'status' | 'status_detail' | 'status_until' | 'replica'>>

/** Milliseconds; null: never. */
export interface Times {
  idleMs: number | null
  runMs: number | null
  deleteMs: number | null
}

/** Why a sandbox cannot stay as it is. */
export type Due = 'remove' | 'pause' | 'start_deadline' | 'delete_time' | 'run_time' | 'idle'

type Rows = ReturnType<typeof sandboxRows>
export type SandboxStore = Transactional<Rows>

export const sandboxStore = (database: Database): SandboxStore => transactional(database, sandboxRows)

function sandboxRows(database: Database) {
  const db = database.withTables<Tables>()
  const seen = together(
    async (ids: readonly string[]) =>
      (await db.executeQuery<Pick<SandboxRow, Seen>>(CompiledQuery.raw(seenText, [ids]))).rows,
    (row) => row.id,
  )
  return {
    /** Nobody else counts, adds or resumes this owner's sandboxes until the transaction ends. */
    async lockOwner(owner: string): Promise<void> {
      await database.rows(sql`select pg_advisory_xact_lock(hashtextextended(${owner}, 0))`)
    },

    async insert(
      row: Pick<SandboxRow, 'id' | 'owner_id' | 'spec_id' | 'wanted' | 'status' | 'status_until'>,
    ): Promise<boolean> {
      const done = await sql`
        insert into sandbox (id, owner_id, spec_id, wanted, status, status_until)
        values (${row.id}, ${row.owner_id}, ${row.spec_id}, ${row.wanted}, ${row.status}, ${row.status_until})
        on conflict do nothing`.execute(db)
      return done.numAffectedRows === 1n
    },

    get: (id: string): Promise<SandboxRow | undefined> =>
      db.selectFrom('sandbox').selectAll().where('id', '=', id).executeTakeFirst(),

    async many(ids: readonly string[]): Promise<Pick<SandboxRow, Seen>[]> {
      return (await Promise.all(ids.map(seen))).filter((row) => row !== undefined)
    },

    ofOwner: (owner: string, ids: readonly string[]): Promise<SandboxRow[]> =>
      db
        .selectFrom('sandbox')
        .selectAll()
        .where('owner_id', '=', owner)
        .where('id', 'in', [...ids, none])
        .execute(),

    /** Newest first, after a position; `status` null: every status. */
    async page(owner: string, status: SandboxStatus | null, after: { at: string; id: string } | null, limit: number) {
      let query = db.selectFrom('sandbox').selectAll().where('owner_id', '=', owner).where('wanted', '!=', 'removed')
      if (status !== null) query = query.where('status', '=', status)
      if (after !== null)
        query = query.where(sql<boolean>`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)`)
      return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
    },

    /** What counts against the limit: idle ones first, of these the longest unused first. */
    running: (owner: string): Promise<(SandboxRow & { busy: boolean })[]> =>
      database.rows(sql<SandboxRow & { busy: boolean }>`
        select *, busy_until > now() as busy from sandbox
        where owner_id = ${owner} and status in ('STARTING', 'RUNNING') and wanted = 'running'
        order by busy, created_at, id`),

    /** Changes it if it is in one of `from`; undefined when it is not. */
    async change(id: string, from: readonly SandboxStatus[], change: Change): Promise<SandboxRow | undefined> {
      const status = change.status
      return db
        .updateTable('sandbox')
        .set({
          ...change,
          updated_at: sql<string>`now()`,
          ...(status === undefined
            ? {}
            : { status_since: sql<string>`case when status = ${status} then status_since else now() end` }),
        })
        .where('id', '=', id)
        .where('status', 'in', from)
        .returningAll()
        .executeTakeFirst()
    },

    /** Used now, and at work for `busyMs` more unless it says so again; 0: at rest. */
    async touch(id: string, busyMs: number): Promise<void> {
      await sql`update sandbox set last_used_at = now(), busy_until = now() + make_interval(secs => ${busyMs / 1000})
        where id = ${id}`.execute(db)
    },

    /** Used now, without a word about whether it is at work. Written at most every ten seconds. */
    async visit(id: string): Promise<void> {
      await sql`update sandbox set last_used_at = now()
        where id = ${id} and last_used_at < now() - interval '10 seconds'`.execute(db)
    },

    async allow(id: string, kind: GitProvider, repository: string): Promise<void> {
      await db
        .insertInto('sandbox_repository')
        .values({ sandbox_id: id, git_provider: kind, repository })
        .onConflict((on) => on.doNothing())
        .execute()
    },

    async ask(id: string, policy: AskedPolicy): Promise<void> {
      await db
        .insertInto('sandbox_egress')
        .values({ sandbox_id: id, policy })
        .onConflict((on) => on.doNothing())
        .execute()
    },

    policies: async (id: string): Promise<AskedPolicy[]> =>
      (await db.selectFrom('sandbox_egress').select('policy').where('sandbox_id', '=', id).execute()).map(
        (row) => row.policy,
      ),

    repositories: (id: string): Promise<{ git_provider: GitProvider; repository: string }[]> =>
      db.selectFrom('sandbox_repository').select(['git_provider', 'repository']).where('sandbox_id', '=', id).execute(),

    async delete(id: string): Promise<void> {
      await db.deleteFrom('sandbox').where('id', '=', id).execute()
    },

    /** Those of this server that are not as they are wanted, or past their time, and why. Null: no such time. */
    unsettled: (replica: string, times: Times): Promise<(SandboxRow & { due: Due })[]> =>
      database.rows(sql<SandboxRow & { due: Due }>`
        select * from (
          select *, case
            when wanted = 'removed' then 'remove'
            when wanted = 'paused' and status in ('STARTING', 'RUNNING') then 'pause'
            when status = 'STARTING' and status_until < now() then 'start_deadline'
            when status = 'PAUSED' and status_since < ${before(times.deleteMs)} then 'delete_time'
            when status <> 'RUNNING' or wanted <> 'running' then null
            when status_since < ${before(times.runMs)} then 'run_time'
            when busy_until < now() and last_used_at < ${before(times.idleMs)} then 'idle'
          end as due
          from sandbox where replica = ${replica} or replica is null) as looked
        where due is not null order by updated_at limit 100`),

    known: async (ids: readonly string[]): Promise<Set<string>> =>
      new Set(
        (
          await db
            .selectFrom('sandbox')
            .select('id')
            .where('id', 'in', [...ids, none])
            .execute()
        ).map((row) => row.id),
      ),
  }
}

/** The time before which something has happened so long ago. */
const before = (ms: number | null) => sql`now() - make_interval(secs => ${ms}::float8 / 1000)`

/** Keeps `in ()` valid for an empty list. */
const none = '00000000-0000-0000-0000-000000000000'
