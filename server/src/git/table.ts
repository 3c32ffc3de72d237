import { type Kysely, sql } from 'kysely'

/**
 * The accounts at forges that people have connected: at most one of a kind each. `host` is the base URL of the forge;
 * `account` is the login that the token belongs to there; the token is closed with the owner's key.
 */
export async function forgeConnectionTable(db: Kysely<unknown>): Promise<void> {
  await sql`create table forge_connection (
    owner_id uuid not null references app_user on delete cascade,
    kind text not null,
    host text not null,
    account text not null,
    sealed_token text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (owner_id, kind))`.execute(db)
}
