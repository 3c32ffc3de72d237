import { fetchPlugin } from '@parley/agent/plugins/fetch'
import { PluginFailed } from '@parley/agent/plugins/source'
import { loadSkillFolder } from '@parley/agent/skills/load'
import type { Skill } from '@parley/agent/skills/skill'
import type { Hands } from '@parley/sandbox/driver'
import type { SkillRepository } from '../../git/service.ts'

const folders = ['microagents', 'skills']

/** Skills of repositories that stand for an account. One that cannot be had is a problem and ends nothing. */
export async function sharedSkills(
  hands: Hands,
  repositories: readonly SkillRepository[],
  dir: string,
  signal: AbortSignal,
): Promise<{ skills: Skill[]; problems: string[] }> {
  const skills: Skill[] = []
  const problems: string[] = []
  for (const { name, url } of repositories) {
    try {
      const { root } = await fetchPlugin(
        hands,
        { source: name, ref: null, repo_path: null },
        { kind: 'git', url },
        dir,
        signal,
      )
      for (const folder of folders) {
        const found = await loadSkillFolder(hands, root, folder, signal)
        skills.push(...found.skills)
        problems.push(...found.problems)
      }
    } catch (error) {
      if (!(error instanceof PluginFailed)) throw error
      problems.push(`the skills of ${name}: ${error.message}`)
    }
  }
  return { skills, problems }
}
