import { type Kysely, sql } from 'kysely'

/** A conversation without a title of its own gets one from its first message, whether or not its start asked for processors. */
export const titles = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create or replace function begin_log_reader() returns trigger language plpgsql as $$
      begin
        insert into log_reader (conversation_id)
        select new.id from start_task t
        where t.conversation_id = new.id and t.status = 'READY'
          and (not new.title_given or (jsonb_typeof(t.request -> 'processors') = 'array'
            and t.request -> 'processors' <> '[]'::jsonb))
        on conflict do nothing;
        return null;
      end $$`.execute(db)
  },
}
