import { type Kysely, sql } from 'kysely'

/** A field of the event's own JSON, zero where it is no number: a reporter may send anything. */
const amount = (place: string) =>
  `case when jsonb_typeof(said #> '{${place}}') = 'number' then greatest((said #>> '{${place}}')::numeric, 0) else 0 end`

const columns = `id, owner_id, conversation_id, at, model, cost, prompt_tokens, completion_tokens, cache_read_tokens`
const values = (event: string, owner: string) => `
  ${event}.id, ${owner}, ${event}.conversation_id, ${event}.at, coalesce(nullif(said ->> 'model', ''), 'unknown'),
  ${amount('cost')}, ${amount('usage,prompt_tokens')}, ${amount('usage,completion_tokens')},
  ${amount('usage,cache_read_tokens')}`

const statements = [
  // One row for each call of a model, by the id of its event: a fork, which copies events, costs nothing. No foreign key to
  // the conversation: what it has cost outlives it.
  `create table llm_call (
    id uuid primary key,
    owner_id uuid not null references app_user on delete cascade,
    conversation_id uuid not null,
    at timestamptz(3) not null,
    model text not null,
    cost float8 not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    cache_read_tokens bigint not null)`,
  `create index llm_call_owner on llm_call (owner_id, at)`,
  `create index llm_call_at on llm_call (at)`,

  `create function llm_call_noted() returns trigger language plpgsql as $$
    declare said jsonb := new.body::jsonb;
    begin
      insert into llm_call (${columns})
        select ${values('new', 'c.owner_id')} from conversation c where c.id = new.conversation_id
        on conflict do nothing;
      return null;
    end $$`,
  `create trigger llm_call_noted after insert on event for each row when (new.kind = 'LLMCallEvent')
    execute function llm_call_noted()`,
  `insert into llm_call (${columns})
    select ${values('e', 'c.owner_id')} from event e join conversation c on c.id = e.conversation_id
      cross join lateral (select e.body::jsonb as said) as body where e.kind = 'LLMCallEvent'
    on conflict do nothing`,
]

/** What calls of models have used, apart from the log, so that it can be added up by day. */
export const usage = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}
