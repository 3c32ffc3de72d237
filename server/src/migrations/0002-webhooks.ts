import { type Kysely, sql } from 'kysely'

/*
 * Readers of the log (callback processors), reports of agent servers outside, and calls to the addresses that people have
 * subscribed. What is to be told is written by triggers, in the very transaction of what it tells: a call can be late, but it
 * cannot be forgotten, whoever made the change. Each trigger ends at once when nobody has subscribed.
 */

const processors = [
  // How far the processors of a conversation have read. Not active: none of them has anything left to do.
  `create table log_reader (
    conversation_id uuid primary key references conversation on delete cascade,
    seq bigint not null default 0,
    adopted boolean not null default false,
    active boolean not null default true)`,
  `create index log_reader_active on log_reader (conversation_id) where active`,

  `create table event_callback (
    id uuid primary key,
    conversation_id uuid not null references conversation on delete cascade,
    processor jsonb not null,
    event_kind text not null,
    status text not null default 'ACTIVE' check (status in ('ACTIVE', 'DISABLED', 'COMPLETED', 'ERROR')),
    -- the event for which something is being done that must not be done twice
    claimed_event_id uuid,
    -- what a model was used for, not yet counted in the conversation
    unbilled jsonb,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now())`,
  `create index event_callback_conversation on event_callback (conversation_id)`,

  `create table event_callback_result (
    id uuid primary key,
    event_callback_id uuid not null references event_callback on delete cascade,
    conversation_id uuid not null references conversation on delete cascade,
    event_id uuid not null,
    status text not null check (status in ('SUCCESS', 'ERROR')),
    detail text,
    created_at timestamptz(3) not null default now(),
    unique (event_callback_id, event_id))`,
  `create index event_callback_result_conversation on event_callback_result (conversation_id)`,

  `create function begin_log_reader() returns trigger language plpgsql as $$
  begin
    insert into log_reader (conversation_id)
    select new.id from start_task t
    where t.conversation_id = new.id and t.status = 'READY' and jsonb_typeof(t.request -> 'processors') = 'array'
      and t.request -> 'processors' <> '[]'::jsonb
    on conflict do nothing;
    return null;
  end $$`,
  `create trigger conversation_log_reader after insert on conversation
    for each row execute function begin_log_reader()`,
]

const reports = [
  // Conversations that an agent server outside has reported; made: there was none before the report.
  `create table conversation_report (
    conversation_id uuid primary key references conversation on delete cascade,
    made boolean not null,
    status_at timestamptz(3),
    created_at timestamptz(3) not null default now())`,
]

const subscriptions = [
  `create table webhook_subscription (
    id uuid primary key,
    owner_id uuid not null references app_user on delete cascade,
    name text,
    url text not null,
    types text[] not null,
    conversation_id uuid,
    enabled boolean not null,
    paused_reason text,
    -- the signing secrets, closed with the seal
    sealed_secrets text not null,
    delivered_at timestamptz(3),
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now())`,
  `create index webhook_subscription_owner on webhook_subscription (owner_id, created_at desc, id desc)`,

  `create table webhook_delivery (
    id uuid primary key,
    subscription_id uuid not null references webhook_subscription on delete cascade,
    conversation_id uuid,
    type text not null,
    -- of an event its number: the event itself is read when it is sent
    event_seq bigint,
    data jsonb not null,
    status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
    attempts int not null default 0,
    response_status int,
    error text,
    created_at timestamptz(3) not null default clock_timestamp(),
    next_attempt_at timestamptz(3) default clock_timestamp(),
    delivered_at timestamptz(3))`,
  `create index webhook_delivery_subscription on webhook_delivery (subscription_id, created_at desc, id desc)`,
  `create index webhook_delivery_pending on webhook_delivery (subscription_id, next_attempt_at) where status = 'pending'`,
  `create index webhook_delivery_conversation on webhook_delivery (conversation_id)`,
  `create index webhook_delivery_age on webhook_delivery (created_at) where status <> 'pending'`,

  // How far the log of a conversation has been told to those who subscribed its events.
  `create table webhook_cursor (
    conversation_id uuid primary key references conversation on delete cascade,
    seq bigint not null default 0)`,

  `create function webhook_tell(owner uuid, conversation uuid, said text, told jsonb) returns void language sql as $$
    insert into webhook_delivery (id, subscription_id, conversation_id, type, data)
    select gen_random_uuid(), s.id, conversation, said, told from webhook_subscription s
    where s.owner_id = owner and s.enabled and said = any(s.types)
      and (s.conversation_id is null or s.conversation_id = conversation)
  $$`,
]

const tells = [
  `create function webhook_tell_started() returns trigger language plpgsql as $$
  begin
    if not exists (select from webhook_subscription where owner_id = new.owner_id and enabled) then return null; end if;
    perform webhook_tell(new.owner_id, new.id, 'conversation.started', jsonb_build_object(
      'conversation_id', new.id, 'seq', 0, 'title', new.title, 'selected_repository', new.selected_repository,
      'trigger', new.trigger));
    insert into webhook_cursor (conversation_id)
    select new.id from webhook_subscription s
    where s.owner_id = new.owner_id and 'conversation.event' = any(s.types) limit 1 on conflict do nothing;
    return null;
  end $$`,
  `create trigger conversation_webhook after insert on conversation
    for each row execute function webhook_tell_started()`,

  `create function webhook_tell_status() returns trigger language plpgsql as $$
  declare
    owner uuid;
    told jsonb;
  begin
    select c.owner_id into owner from conversation c where c.id = new.conversation_id;
    if not exists (select from webhook_subscription where owner_id = owner and enabled) then return null; end if;
    told := jsonb_build_object('conversation_id', new.conversation_id, 'seq', new.last_seq,
      'previous_execution_status', old.execution_status, 'execution_status', new.execution_status,
      'reason', new.status_reason);
    perform webhook_tell(owner, new.conversation_id, 'conversation.status_changed', told);
    if new.execution_status = 'finished' then
      perform webhook_tell(owner, new.conversation_id, 'conversation.finished', told);
    end if;
    return null;
  end $$`,
  `create trigger conversation_head_webhook after update of execution_status on conversation_head
    for each row when (old.execution_status is distinct from new.execution_status)
    execute function webhook_tell_status()`,

  `create function webhook_tell_deleted() returns trigger language plpgsql as $$
  begin
    -- What was told of it and is not yet sent would be more than is left of it.
    delete from webhook_delivery where conversation_id = new.id;
    perform webhook_tell(new.owner_id, new.id, 'conversation.deleted', jsonb_build_object('conversation_id', new.id));
    return null;
  end $$`,
  `create trigger deleted_conversation_webhook after insert on deleted_conversation
    for each row execute function webhook_tell_deleted()`,

  `create function webhook_tell_start_failed() returns trigger language plpgsql as $$
  begin
    perform webhook_tell(new.owner_id, new.conversation_id, 'conversation.start_failed', jsonb_build_object(
      'start_task_id', new.id, 'conversation_id', new.conversation_id, 'detail', new.detail));
    return null;
  end $$`,
  `create trigger start_task_webhook after update of status on start_task
    for each row when (old.status is distinct from new.status and new.status = 'ERROR')
    execute function webhook_tell_start_failed()`,

  `create function webhook_tell_sandbox() returns trigger language plpgsql as $$
  begin
    perform webhook_tell(new.owner_id, null, 'sandbox.status_changed', jsonb_build_object(
      'sandbox_id', new.id, 'previous_status', old.status, 'status', new.status, 'detail', new.status_detail));
    return null;
  end $$`,
  `create trigger sandbox_webhook after update of status on sandbox
    for each row when (old.status is distinct from new.status)
    execute function webhook_tell_sandbox()`,
]

export const webhooks = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [...processors, ...reports, ...subscriptions, ...tells])
      await sql.raw(statement).execute(db)
  },
}
