import { type Kysely, sql } from 'kysely'

/** To which hosts a secret goes, and what was asked for the network of a sandbox. */
export const network = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table secret add column hosts text[]`.execute(db)
    // `settings`: what the owner's settings say at the time.
    await sql`create table sandbox_egress (
      sandbox_id uuid not null references sandbox on delete cascade,
      policy text not null check (policy in ('none', 'allowlist', 'open', 'settings')),
      primary key (sandbox_id, policy))`.execute(db)
  },
}
