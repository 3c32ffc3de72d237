import { type Kysely, sql } from 'kysely'

/** A call that a processor makes is in no log: it is counted when the conversation is billed for it. */
export const titleUsage = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create function callback_call_noted() returns trigger language plpgsql as $$
      declare used jsonb := old.unbilled -> 'accumulated_token_usage';
      begin
        insert into llm_call (id, owner_id, conversation_id, at, model, cost, prompt_tokens, completion_tokens, cache_read_tokens)
          select old.id, c.owner_id, c.id, clock_timestamp(), old.unbilled ->> 'model_name',
            (old.unbilled ->> 'accumulated_cost')::float8, (used ->> 'prompt_tokens')::bigint,
            (used ->> 'completion_tokens')::bigint, (used ->> 'cache_read_tokens')::bigint
          from conversation c where c.id = old.conversation_id
          on conflict do nothing;
        return null;
      end $$`.execute(db)
    await sql`create trigger callback_call_noted after update of unbilled on event_callback for each row
      when (old.unbilled is not null and new.unbilled is null) execute function callback_call_noted()`.execute(db)
  },
}
