import type { SkillConfig } from '@parley/contract/agent-config'
import type { Skill, Trigger } from './skill.ts'

/** Where a skill is from that no file holds. */
export const settingsSource = 'settings'

/** Skills that the user wrote into the settings: notes that always hold where nothing brings them up. */
export const givenSkills = (configs: readonly SkillConfig[]): Skill[] =>
  configs.map(({ name, content, trigger, type }) => ({
    name,
    content,
    trigger: triggerOf(trigger),
    source: settingsSource,
    is_agentskills_format: type === 'agentskills',
    description: '',
    inputs: [],
    disable_model_invocation: false,
    resources: [],
  }))

/** A list of words, or an object that names its kind and its words. */
function triggerOf(trigger: SkillConfig['trigger']): Trigger | null {
  if (trigger === null) return null
  if (Array.isArray(trigger)) return trigger.length === 0 ? null : { type: 'keyword', keywords: trigger }
  const words = Object.values(trigger).find((value) => Array.isArray(value)) ?? []
  const said = words.filter((word: unknown) => typeof word === 'string')
  if (said.length === 0) return null
  if (trigger.type === 'path') return { type: 'path', paths: said }
  return trigger.type === 'task' ? { type: 'task', triggers: said } : { type: 'keyword', keywords: said }
}
