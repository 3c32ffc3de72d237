import { posix } from 'node:path'
import type { Observation } from '@parley/contract/events'
import { textContent } from '../tools/observation.ts'
import type { Tool } from '../tools/tool.ts'
import { skillText } from './activate.ts'
import type { Skill } from './skill.ts'

/*
 * Rules for files: what a repository says about a part of itself is told when a tool touches a file of that part, once in a
 * conversation. The names of told rules are in the observations, so the log remembers them.
 */

const toldKey = 'told rules'
const mostAtOnce = 3

/** The tool, whose answers about a file (`path` of the observation) carry the rules for it. */
export function withRules(tool: Tool, skills: readonly Skill[], workingDir: string): Tool {
  const rules = skills.filter((skill) => skill.trigger?.type === 'path')
  if (rules.length === 0) return tool
  return {
    ...tool,
    async run(input, context) {
      const observation = await tool.run(input, context)
      const told = toldIn(context.memory)
      const due = rulesFor(rules, observation, workingDir)
        .filter((rule) => !told.has(rule.name))
        .slice(0, mostAtOnce)
      if (due.length === 0) return observation
      for (const { name } of due) told.add(name)
      const texts = due.map((rule) => textContent(skillText(rule, 'This file has rules of its own.')))
      return {
        ...observation,
        content: [...observation.content, ...texts],
        activated_skills: due.map(({ name }) => name),
      }
    },
    recall(observation, memory) {
      tool.recall?.(observation, memory)
      const names = observation['activated_skills']
      if (Array.isArray(names)) for (const name of names) toldIn(memory).add(String(name))
    },
  }
}

function toldIn(memory: Map<string, unknown>): Set<string> {
  const known = memory.get(toldKey) as Set<string> | undefined
  const told = known ?? new Set<string>()
  memory.set(toldKey, told)
  return told
}

function rulesFor(rules: readonly Skill[], { path }: Observation, workingDir: string): Skill[] {
  if (typeof path !== 'string') return []
  const relative = posix.relative(workingDir, path)
  if (relative === '' || relative.startsWith('..')) return []
  return rules.filter(
    ({ trigger }) => trigger?.type === 'path' && trigger.paths.some((glob) => matches(relative, glob)),
  )
}

/** A pattern without a slash is for files of that name anywhere. */
function matches(path: string, glob: string): boolean {
  const pattern = glob.replace(/^\.?\//, '')
  if (posix.matchesGlob(path, pattern)) return true
  return !pattern.includes('/') && posix.matchesGlob(posix.basename(path), pattern)
}
