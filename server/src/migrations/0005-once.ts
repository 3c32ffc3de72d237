import { type Kysely, sql } from 'kysely'

const statements = [
  // The id that all attempts of one request share; what it makes has it.
  `alter table idempotent_answer add column once_id uuid not null default gen_random_uuid()`,
  `alter table idempotent_answer alter column once_id drop default`,

  // Wrong passwords and links of the open minute, for all replicas.
  `create unlogged table wrong_try (
    who text primary key,
    until timestamptz not null,
    count int not null)`,
  `create index wrong_try_until on wrong_try (until)`,

  // Entries are written when all is known, in the transaction of what they tell, each bound to the one before it.
  `alter table audit_entry
    add column chain text,
    add column chain_seq bigint,
    add column prev_hash bytea,
    add column hash bytea`,
  `create unique index audit_entry_chain on audit_entry (chain, chain_seq)`,
  `create index audit_entry_age on audit_entry (at)`,
  `create table audit_chain (
    chain text primary key,
    -- the oldest that is kept still
    first_seq bigint not null default 1,
    last_seq bigint not null default 0,
    last_hash bytea not null)`,
  `create or replace function audit_entry_stands() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and old.at < now() - interval '400 days' then return old; end if;
      raise exception 'an audit entry is neither changed nor deleted';
    end $$`,
]

/** Effects that are kept with the record of them, and what replicas must know of each other's callers. */
export const once = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}
