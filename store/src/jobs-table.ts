import { type Kysely, sql } from 'kysely'

/**
 * For the first migration: the jobs, the sequence of their epochs, and who is alive. A job is due at the later of `run_at`
 * and `lease_until`, so one index finds what waits and what a dead replica has left.
 */
export async function jobTable(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence job_epoch`.execute(db)
  await sql`create table job (
    id uuid primary key,
    kind text not null,
    key text not null,
    input jsonb not null,
    run_at timestamptz not null,
    attempt int not null default 0,
    epoch bigint not null default 0,
    lease_owner text,
    lease_until timestamptz,
    affinity text,
    last_error text,
    created_at timestamptz not null default now(),
    unique (kind, key))`.execute(db)
  await sql`create index job_due on job (kind, greatest(run_at, lease_until))`.execute(db)
  await sql`create table replica (id text primary key, seen_at timestamptz not null)`.execute(db)
}
