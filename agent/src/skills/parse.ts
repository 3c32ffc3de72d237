import { parse } from 'yaml'
import { z } from 'zod'
import type { Skill, Trigger } from './skill.ts'

const words = z
  .union([z.string(), z.array(z.coerce.string())])
  .transform((given) => (Array.isArray(given) ? given : [given]))
const text = z.coerce.string()

/** What a skill's front matter may say; other members are for other programs. */
const FrontMatter = z.object({
  name: text.pipe(z.string().trim().min(1).max(255)).nullish(),
  description: text.nullish(),
  triggers: words.nullish(),
  paths: words.nullish(),
  inputs: z
    .array(z.object({ name: text, description: text.nullish().transform((said) => said ?? '') }))
    .max(50)
    .nullish(),
  'disable-model-invocation': z.boolean().nullish(),
  disable_model_invocation: z.boolean().nullish(),
})

const longestDescription = 1024
const mostTriggers = 100

export interface SkillFile {
  /** Its name when the front matter gives none. */
  name: string
  path: string
  text: string
  /** Is a SKILL.md, with these files beside it. */
  folder: string[] | null
}

/** The skill, or a sentence why the file is none. */
export function parseSkill({ name, path, text: given, folder }: SkillFile): Skill | string {
  const parts = splitFrontMatter(given)
  if (parts === null) return `${path}: its front matter is not closed by a line of three dashes`
  let data: unknown
  try {
    data = parts.head.trim() === '' ? {} : parse(parts.head, { schema: 'core', maxAliasCount: 10 })
  } catch (error) {
    return `${path}: ${error instanceof Error ? error.message.split('\n')[0] : 'its front matter is not YAML'}`
  }
  const read = FrontMatter.safeParse(data ?? {})
  if (!read.success)
    return `${path}: ${read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)[0]}`
  const head = read.data
  const own = head.name ?? name
  return {
    name: own,
    content: parts.body.trim(),
    trigger: triggerOf(own, head),
    source: path,
    is_agentskills_format: folder !== null,
    description: (head.description ?? '').trim().slice(0, longestDescription),
    inputs: head.inputs ?? [],
    disable_model_invocation: head['disable-model-invocation'] ?? head.disable_model_invocation ?? false,
    resources: folder ?? [],
  }
}

/** The YAML between two lines of dashes at the very top, and the rest. Null: it begins and does not end. */
export function splitFrontMatter(text: string): { head: string; body: string } | null {
  const clean = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')
  if (!/^---[ \t]*\n/.test(clean)) return { head: '', body: clean }
  const found = /^---[ \t]*\n([\s\S]*?)(?:^|\n)---[ \t]*(?:\n|$)/m.exec(clean)
  if (found === null || found.index !== 0) return null
  return { head: found[1] ?? '', body: clean.slice(found[0].length) }
}

function triggerOf(name: string, { triggers, paths, inputs }: z.infer<typeof FrontMatter>): Trigger | null {
  const said = (list: string[] | null | undefined) =>
    (list ?? [])
      .map((word) => word.trim())
      .filter((word) => word !== '')
      .slice(0, mostTriggers)
  if (said(paths).length > 0) return { type: 'path', paths: said(paths) }
  if (inputs) return { type: 'task', triggers: [...new Set([`/${name}`, ...said(triggers)])] }
  return said(triggers).length > 0 ? { type: 'keyword', keywords: said(triggers) } : null
}
