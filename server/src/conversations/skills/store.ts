import type { Skill } from '@parley/agent/skills/skill'
import type { HookConfig } from '@parley/contract/hook-config'
import type { Database } from '@parley/store/database'
import { sql } from 'kysely'
import type { Extensions } from './load.ts'

export type SkillStore = ReturnType<typeof skillStore>

export function skillStore(database: Database) {
  return {
    /** Kept for the next step of the start. */
    async stage(task: string, extensions: Extensions): Promise<void> {
      await database.rows(sql`
        insert into start_extension (start_task_id, extensions) values (${task}, ${JSON.stringify(extensions)}::jsonb)
        on conflict (start_task_id) do update set extensions = excluded.extensions`)
    },

    async staged(task: string): Promise<Extensions | undefined> {
      const rows = await database.rows(sql<{ extensions: Extensions }>`
        select extensions from start_extension where start_task_id = ${task}`)
      return rows[0]?.extensions
    },

    async unstage(task: string): Promise<void> {
      await database.rows(sql`delete from start_extension where start_task_id = ${task}`)
    },

    async skills(conversation: string): Promise<Skill[]> {
      return (await this.spokenWith(conversation)).skills
    },

    /** What joins a message of the user. */
    async spokenWith(conversation: string): Promise<{ skills: Skill[]; suffix: string | null }> {
      const rows = await database.rows(sql<{ skills: Skill[] | null; suffix: string | null }>`
        select config->'skills' as skills, config->>'user_message_suffix' as suffix
        from conversation where id = ${conversation}`)
      return { skills: rows[0]?.skills ?? [], suffix: rows[0]?.suffix ?? null }
    },

    async hooks(conversation: string): Promise<HookConfig | null> {
      const rows = await database.rows(sql<{ hooks: HookConfig | null }>`
        select config->'hook_config' as hooks from conversation where id = ${conversation}`)
      return rows[0]?.hooks ?? null
    },

    /** Names of the skills that messages have brought up. */
    async broughtUp(conversation: string): Promise<Set<string>> {
      const rows = await database.rows(sql<{ names: string[] }>`
        select body::json->'activated_skills' as names from event
        where conversation_id = ${conversation} and kind = 'MessageEvent' and body like '%"activated_skills"%'`)
      return new Set(rows.flatMap(({ names }) => (Array.isArray(names) ? names : [])))
    },
  }
}
