import { type UserMessage, withSkills, withSuffix } from '@parley/agent/skills/activate'
import { loadedSkill } from '@parley/agent/skills/skill'
import { hookEvents } from '@parley/contract/hook-config'
import type { ConfiguredHooks, LoadedSkill } from '@parley/contract/workspace'
import type { SkillStore } from './store.ts'

/** The skills of conversations: shown, and brought up by messages. */
export const skillsOf = (store: SkillStore) => ({
  list: async (conversation: string): Promise<{ skills: LoadedSkill[] }> => ({
    skills: (await store.skills(conversation)).map(loadedSkill),
  }),

  async hooks(conversation: string): Promise<{ hooks: ConfiguredHooks[] }> {
    const config = await store.hooks(conversation)
    const hooks = hookEvents.map((event) => ({ event_type: event, matchers: config?.[event] ?? [] }))
    return { hooks: hooks.filter(({ matchers }) => matchers.length > 0) }
  },

  /** The message with what it brings up and no earlier one has. */
  async told(conversation: string, message: UserMessage): Promise<UserMessage> {
    const { skills, suffix } = await store.spokenWith(conversation)
    const mentions = withSkills(message, skills, new Set()) !== message
    const told = mentions ? withSkills(message, skills, await store.broughtUp(conversation)) : message
    return withSuffix(told, suffix)
  },
})
