import { posix } from 'node:path'
import { z } from 'zod'
import { cutMiddle, failed, observed } from '../tools/observation.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
import { skillText } from './activate.ts'
import { about, invocableSkills } from './prompt.ts'
import type { Skill } from './skill.ts'

const kind = 'InvokeSkillObservation'
const input = z.object({ name: z.string().describe('Empty: list all.') })
const outputLimit = 50 * 1024
const commandMs = 30_000
const mostCommands = 10

/** The tool that reads a skill's body; null when there is none that the model may take up. */
export function invokeSkill(skills: readonly Skill[]): Tool<typeof input> | null {
  const all = invocableSkills(skills)
  if (all.length === 0) return null
  return {
    name: 'invoke_skill',
    aliases: ['InvokeSkillTool', 'skill'],
    description: 'Reads a skill by its name: how something is done here.',
    input,
    actionKind: 'InvokeSkillAction',
    observationKind: kind,
    readOnly: true,
    handless: !all.some((skill) => inlineCommand.test(skill.content)),
    resources: () => [],
    async run({ name }, context) {
      if (name.trim() === '') return observed(kind, all.map((one) => `- ${one.name}: ${about(one)}`).join('\n'))
      const skill = all.find((one) => one.name.toLowerCase() === name.trim().toLowerCase())
      if (skill === undefined)
        return failed(kind, `There is no skill ${name}. Skills: ${all.map((one) => one.name).join(', ')}.`, {
          skill: name,
        })
      const content = await withOutputs(skill.content, context)
      const text = [skillText({ ...skill, content }, 'You asked for this skill.'), ...filesOf(skill)].join('\n')
      return observed(kind, text, { skill: skill.name })
    },
  }
}

function filesOf({ source, resources }: Skill): string[] {
  return resources.length === 0 ? [] : [`Its files, in ${posix.dirname(source)}: ${resources.join(', ')}`]
}

const inlineCommand = /!`([^`\n]+)`/

/** A command between backticks after an exclamation mark stands for its output, run in the sandbox at the time of reading. */
async function withOutputs(content: string, { hands, workingDir, signal }: ToolContext): Promise<string> {
  let text = content
  const found = [...content.matchAll(new RegExp(inlineCommand, 'g'))].slice(0, mostCommands)
  for (const [whole, command = ''] of found) {
    const result = await hands.run({ script: `{ ${command}\n} 2>&1`, cwd: workingDir, timeoutMs: commandMs, signal })
    const said = cutMiddle(result.stdout.toString('utf8').trimEnd(), outputLimit)
    text = text.replace(whole, () => (result.timedOut ? `${said}\n[ended after 30 s]` : said))
  }
  return text
}
