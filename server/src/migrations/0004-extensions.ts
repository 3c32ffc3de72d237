import { type Kysely, sql } from 'kysely'

/** What a start has found for the agent, until the conversation is made and keeps it. */
export const extensions = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table start_extension (
      start_task_id uuid primary key references start_task on delete cascade,
      extensions jsonb not null)`.execute(db)
  },
}
