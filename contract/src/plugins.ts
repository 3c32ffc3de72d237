import { z } from 'zod'
import { described } from './described.ts'
import { GitRef, repositoryName } from './git-names.ts'

/** What is wrong with `path` as a folder inside a repository; undefined when nothing is. */
export function repositoryPathProblem(path: string): string | undefined {
  if (path.startsWith('/') || path.startsWith('\\')) return 'must not start with a slash'
  if (path.startsWith('-')) return 'must not start with a dash'
  if (path.split(/[/\\]/).includes('..')) return 'must not have a part `..`'
  if (/\p{Cc}/u.test(path)) return 'must not have control characters'
  return undefined
}

/** What is wrong with `source` as the place of a plugin; undefined when nothing is. */
export function pluginSourceProblem(source: string): string | undefined {
  if (/[\s\p{Cc}]/u.test(source)) return 'must not have spaces or control characters'
  if (source.startsWith('-')) return 'must not start with a dash'
  const shorthand = /^([a-z_]+):(?!\/)(.+)$/.exec(source)
  if (shorthand?.[2] !== undefined)
    return repositoryName(shorthand[2]) ? undefined : 'must name a repository as owner/name'
  if (/^(https?|ssh):\/\//.test(source)) return URL.canParse(source) ? undefined : 'is no address'
  if (source.includes('://') || source.includes('::')) return 'must be an https, http or ssh address'
  return repositoryPathProblem(source)
}

const checked = (problem: (text: string) => string | undefined, max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .superRefine((text, ctx) => {
      const message = problem(text)
      if (message !== undefined) ctx.addIssue({ code: 'custom', message })
    })

/** A plugin to load: its skills, MCP servers and hooks join the agent's. */
export const PluginInput = z
  .object(
    described(
      {
        source: checked(pluginSourceProblem, 2048).meta({
          description: '`forge_a:owner/repo`, a Git address, or a folder of the workspace.',
        }),
        ref: GitRef.nullable().default(null),
        repo_path: checked(repositoryPathProblem, 1024).nullable().default(null),
        parameters: z.record(z.string().max(255), z.unknown()).nullable().default(null),
      },
      {
        ref: 'Branch, tag or commit; null: where the repository stands.',
        repo_path: 'The folder in it where the plugin is; null: the top.',
        parameters: 'Values for `${NAME}` in its files, also told to the agent.',
      },
    ),
  )
  .meta({ id: 'PluginInput' })
export type PluginInput = z.infer<typeof PluginInput>

/** A plugin in an answer; credentials in its address are masked. */
export const Plugin = z
  .object(
    described(
      {
        source: z.string(),
        ref: z.string().nullable(),
        repo_path: z.string().nullable(),
        parameters: z.record(z.string(), z.unknown()).nullable(),
      },
      {
        source: 'Where it is from; credentials in an address are masked.',
        ref: 'Branch, tag or commit; null: where the repository stands.',
        repo_path: 'The folder in it where the plugin is; null: the top.',
        parameters: 'Values for `${NAME}` in its files.',
      },
    ),
  )
  .meta({ id: 'Plugin' })
export type Plugin = z.infer<typeof Plugin>

/** `source` with the user part of an address replaced by asterisks. */
export const maskedSource = (source: string): string => source.replace(/^([a-z+]+:\/\/)[^/@]*@/i, '$1****@')
