import type { LoadedSkill } from '@parley/contract/workspace'

/** When a skill comes up by itself. `task` is a keyword that the user types as `/name`; `path` is a file that is touched. */
export type Trigger =
  | { type: 'keyword'; keywords: string[] }
  | { type: 'task'; triggers: string[] }
  | { type: 'path'; paths: string[] }

/** What somebody wrote down for agents: notes that always hold, or knowledge that is read when it is wanted. */
export interface Skill {
  name: string
  content: string
  trigger: Trigger | null
  /** Absolute path of its file in the sandbox. */
  source: string
  /** From a folder with a SKILL.md: listed by description, read on demand. */
  is_agentskills_format: boolean
  /** At most 1,024 characters; may be empty. */
  description: string
  inputs: { name: string; description: string }[]
  /** True: only the user's words bring it up. */
  disable_model_invocation: boolean
  /** Other files of its folder, relative to it. */
  resources: string[]
}

export type SkillType = LoadedSkill['type']

export const skillType = (skill: Pick<Skill, 'is_agentskills_format' | 'trigger'>): SkillType =>
  skill.is_agentskills_format ? 'agentskills' : skill.trigger === null ? 'repo' : 'knowledge'

/** The words or patterns that bring it up. */
export function triggersOf({ trigger }: Skill): string[] {
  if (trigger === null) return []
  if (trigger.type === 'keyword') return trigger.keywords
  return trigger.type === 'task' ? trigger.triggers : trigger.paths
}

/** As the world sees it. */
export const loadedSkill = (skill: Skill): LoadedSkill => ({
  name: skill.name,
  type: skillType(skill),
  content: skill.content,
  triggers: triggersOf(skill),
})

/** One for each name; later ones win and stand where they came. Names in `disabled` are left out. */
export function mergedSkills(lists: readonly (readonly Skill[])[], disabled: readonly string[] = []): Skill[] {
  const byName = new Map<string, Skill>()
  for (const skill of lists.flat()) {
    byName.delete(skill.name)
    byName.set(skill.name, skill)
  }
  for (const name of disabled) byName.delete(name)
  return [...byName.values()]
}
