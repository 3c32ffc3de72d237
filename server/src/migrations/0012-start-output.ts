import { type Kysely, sql } from 'kysely'

/** What a step of a start prints while it runs. */
export const startOutput = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table start_task add column output text not null default '', add column output_of text`.execute(db)
  },
}
