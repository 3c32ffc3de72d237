import { type Kysely, sql } from 'kysely'

const statements = [
  // Which key took this one's place; its own end was brought forward by that.
  `alter table api_key add column replaced_by uuid`,

  // expires_at moves on with each use, up to ends_at.
  `alter table browser_session add column ends_at timestamptz(3)`,
  `update browser_session set ends_at = created_at + interval '90 days'`,
  `alter table browser_session alter column ends_at set not null`,

  // Whom the operator's identity provider knows a person as: issuer and subject.
  `alter table app_user add column sso_subject text`,
  `create unique index app_user_sso on app_user (sso_subject)`,

  `create table invitation (
    id uuid primary key,
    email text not null,
    hash bytea not null unique,
    created_at timestamptz(3) not null default now(),
    expires_at timestamptz(3) not null,
    accepted_at timestamptz(3))`,
  `create unique index invitation_open on invitation (lower(email)) where accepted_at is null`,

  // No foreign key: what was done outlives whoever did it.
  `create table audit_entry (
    id uuid primary key,
    at timestamptz(3) not null,
    user_id uuid,
    actor_kind text not null,
    actor_id text not null,
    action text not null,
    object text,
    outcome text not null,
    ip text not null,
    user_agent text,
    request_id text not null)`,
  `create index audit_entry_user on audit_entry (user_id, id)`,
  `create function audit_entry_stands() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and old.outcome = 'begun'
        and (new.id, new.at, new.actor_kind, new.actor_id, new.action, new.ip, new.request_id)
          = (old.id, old.at, old.actor_kind, old.actor_id, old.action, old.ip, old.request_id) then return new; end if;
      if tg_op = 'DELETE' and old.at < now() - interval '400 days' then return old; end if;
      raise exception 'an audit entry is neither changed nor deleted';
    end $$`,
  `create trigger audit_entry_stands before update or delete on audit_entry
    for each row execute function audit_entry_stands()`,
]

export const people = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}
