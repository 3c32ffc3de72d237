import { type Kysely, sql } from 'kysely'

const statements = [
  // The last state of a conversation's working directory that is kept outside its sandbox, as git objects.
  `create table checkpoint (
    conversation_id uuid primary key references conversation on delete cascade,
    root text not null,
    -- The last event when it was made.
    seq bigint not null,
    -- Of all its objects, before they are compressed.
    bytes bigint not null,
    at timestamptz(3) not null default now())`,
  `create table checkpoint_object (
    conversation_id uuid not null references conversation on delete cascade,
    oid text not null,
    kind text not null check (kind in ('commit', 'tree', 'blob', 'tag')),
    size bigint not null,
    -- Compressed by zlib, as in a pack.
    body bytea not null,
    primary key (conversation_id, oid))`,
  `alter table checkpoint_object alter column body set storage external`,
]

export const checkpoints = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}
