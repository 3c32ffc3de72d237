import { jobTable } from '@parley/store/jobs'
import { ownerKeyTable } from '@parley/store/seal'
import { type Kysely, sql } from 'kysely'
import { forgeConnectionTable } from '../git/table.ts'

/*
 * Every row has an owner and goes with its owner. What belongs to a conversation goes with the conversation, by foreign
 * key, so that a delete is one statement and can leave nothing behind.
 */
const tables = [
  `create table app_user (
    id uuid primary key,
    email text,
    password_hash text,
    name text,
    role text not null check (role in ('owner', 'member')),
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now())`,
  `create unique index app_user_email on app_user (lower(email))`,
  `create unique index app_user_one_owner on app_user (role) where role = 'owner'`,

  `create table one_time_token (
    hash bytea primary key,
    purpose text not null,
    user_id uuid not null references app_user on delete cascade,
    created_at timestamptz(3) not null default now(),
    expires_at timestamptz(3) not null)`,

  `create table browser_session (
    id uuid primary key,
    hash bytea not null unique,
    user_id uuid not null references app_user on delete cascade,
    created_at timestamptz(3) not null default now(),
    last_seen_at timestamptz(3) not null default now(),
    expires_at timestamptz(3) not null)`,

  `create table api_key (
    id uuid primary key,
    owner_id uuid not null references app_user on delete cascade,
    name text,
    hash bytea not null unique,
    last_four text not null,
    scopes text[] not null,
    created_at timestamptz(3) not null default now(),
    last_used_at timestamptz(3),
    expires_at timestamptz(3))`,
  `create index api_key_owner on api_key (owner_id, created_at)`,

  `create table sandbox_key (
    sandbox_id uuid primary key,
    owner_id uuid not null references app_user on delete cascade,
    hash bytea not null unique,
    created_at timestamptz(3) not null default now())`,

  // What the server itself keeps secret (the pepper of key hashes, the key of page ids), closed with the seal.
  `create table server_secret (name text primary key, sealed text not null, created_at timestamptz(3) not null default now())`,

  `create table idempotent_answer (
    owner_id uuid not null references app_user on delete cascade,
    route text not null,
    key text not null,
    fingerprint bytea not null,
    status int,
    headers jsonb,
    body bytea,
    created_at timestamptz(3) not null default now(),
    primary key (owner_id, route, key))`,
  `create index idempotent_answer_age on idempotent_answer (created_at)`,

  `create table secret (
    owner_id uuid not null references app_user on delete cascade,
    name text not null,
    description text,
    sealed_value text not null,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    primary key (owner_id, name))`,

  `create table settings (
    owner_id uuid primary key references app_user on delete cascade,
    -- the whole record, closed with the seal: keys are spread over it
    sealed text not null,
    version int not null default 1,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now())`,

  `create table sandbox (
    id uuid primary key,
    owner_id uuid not null references app_user on delete cascade,
    spec_id text not null,
    wanted text not null check (wanted in ('running', 'paused', 'removed')),
    status text not null check (status in ('STARTING', 'RUNNING', 'PAUSED', 'ERROR', 'MISSING')),
    status_detail text,
    status_since timestamptz(3) not null default now(),
    status_until timestamptz(3),
    replica text,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    last_used_at timestamptz(3) not null default now(),
    busy_until timestamptz(3) not null default now())`,
  `create index sandbox_owner on sandbox (owner_id, created_at desc, id)`,
  `create index sandbox_unsettled on sandbox (status) where status in ('STARTING', 'RUNNING') or wanted = 'removed'`,

  // Which repositories a sandbox may reach with its owner's credentials.
  `create table sandbox_repository (
    sandbox_id uuid not null references sandbox on delete cascade,
    git_provider text not null,
    repository text not null,
    primary key (sandbox_id, git_provider, repository))`,

  `create table conversation (
    id uuid primary key,
    owner_id uuid not null references app_user on delete cascade,
    sandbox_id uuid,
    parent_id uuid references conversation on delete cascade,
    forked_from_id uuid,
    title text not null,
    title_given boolean not null default false,
    selected_repository text,
    selected_branch text,
    git_provider text,
    trigger text,
    pr_number int[] not null default '{}',
    llm_model text,
    agent_type text not null default 'default',
    public boolean,
    tags jsonb not null default '{}',
    working_dir text not null,
    base_commit text,
    config jsonb not null default '{}',
    sealed_config text,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now())`,
  `create index conversation_owner_created on conversation (owner_id, created_at desc, id desc)`,
  `create index conversation_owner_updated on conversation (owner_id, updated_at desc, id desc)`,
  `create index conversation_sandbox on conversation (sandbox_id)`,
  `create index conversation_parent on conversation (parent_id)`,

  // What changes at every step, apart from what does not: a narrow row without further indexes is updated in place.
  `create table conversation_head (
    conversation_id uuid primary key references conversation on delete cascade,
    last_seq bigint not null default 0,
    wanted_seq bigint not null default 0,
    run_epoch bigint not null default 0,
    execution_status text not null default 'idle',
    status_reason jsonb,
    metrics jsonb not null default '{}') with (fillfactor = 50)`,

  `create table deleted_conversation (
    id uuid primary key,
    owner_id uuid not null references app_user on delete cascade,
    deleted_at timestamptz(3) not null default now())`,

  `create table event (
    conversation_id uuid not null references conversation on delete cascade,
    seq bigint not null,
    id uuid not null,
    kind text not null,
    source text not null,
    at timestamptz(3) not null,
    -- JSON text, kept byte for byte
    body text not null,
    primary key (conversation_id, seq))`,
  `create unique index event_id on event (conversation_id, id)`,

  `create table start_task (
    id uuid primary key,
    owner_id uuid not null references app_user on delete cascade,
    request jsonb not null,
    status text not null default 'WORKING',
    detail text,
    conversation_id uuid not null,
    sandbox_id uuid,
    made_sandbox boolean not null default false,
    -- closed with the seal: what the request brought that is never answered
    sealed text,
    -- one entry for each status it has had, and what is to be told when it is READY
    log jsonb not null default '[]',
    notices jsonb not null default '[]',
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    deadline_at timestamptz(3) not null)`,
  `create index start_task_owner on start_task (owner_id, created_at desc, id desc)`,
  `create index start_task_conversation on start_task (conversation_id)`,
  // Of starts at the same moment one makes the conversation; one that failed may be tried again.
  `create unique index start_task_going on start_task (conversation_id) where status <> 'ERROR'`,

  `create table pending_message (
    id uuid primary key,
    owner_id uuid not null references app_user on delete cascade,
    start_task_id uuid not null references start_task on delete cascade,
    content jsonb not null,
    position int not null,
    created_at timestamptz(3) not null default now(),
    unique (start_task_id, position))`,
]

/** The first schema. */
export const first = {
  async up(db: Kysely<unknown>): Promise<void> {
    await ownerKeyTable(db)
    for (const statement of tables) await sql.raw(statement).execute(db)
    await forgeConnectionTable(db)
    await jobTable(db)
  },
}
