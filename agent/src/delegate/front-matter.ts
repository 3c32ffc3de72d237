import { HookConfigInput } from '@parley/contract/hook-config'
import { parse } from 'yaml'
import { z } from 'zod'
import { OwnServers } from './own-servers.ts'

/*
 * The head of a definition. A field that we know and cannot read refuses the whole file: a limit that is misspelt must not
 * pass for none. One that we do not know, or know and cannot do, is named to the user.
 */

const list = z
  .union([z.string().transform((text) => text.split(',')), z.array(z.coerce.string())])
  .transform((names) => names.map((name) => name.trim()).filter((name) => name !== ''))

export const permissionModes = [
  'always_confirm',
  'confirm_risky',
  'never_confirm',
  'plan',
  'default',
  'accept_edits',
  'bypass_permissions',
  'dont_ask',
] as const

const FrontMatter = z.object({
  name: z
    .string()
    .trim()
    .regex(/^[\w.:-]{1,64}$/)
    .nullish(),
  description: z.coerce.string().nullish(),
  tools: list.nullish(),
  disallowed_tools: list.nullish(),
  model: z.coerce.string().trim().nullish(),
  skills: list.nullish(),
  max_iteration_per_run: z.int().min(1).nullish(),
  max_budget_per_run: z.number().positive().nullish(),
  permission_mode: z
    .preprocess((mode) => (typeof mode === 'string' ? snake(mode) : mode), z.enum(permissionModes))
    .nullish(),
  hooks: HookConfigInput.nullish(),
  mcp_servers: OwnServers.nullish(),
  condenser: z
    .looseObject({
      kind: z.enum(['NoOpCondenser', 'LLMSummarizingCondenser']).default('LLMSummarizingCondenser'),
      max_size: z.int().min(20).nullish(),
    })
    .nullish(),
})
export type FrontMatter = z.infer<typeof FrontMatter>

/** What others call fields of ours, after `snake`. */
const aliases: Readonly<Record<string, keyof FrontMatter>> = {
  allowed_tools: 'tools',
  max_iterations: 'max_iteration_per_run',
  max_steps: 'max_iteration_per_run',
  max_turns: 'max_iteration_per_run',
  max_budget: 'max_budget_per_run',
}

/** Fields that change nothing of the work. */
const forPeople = ['author', 'color', 'license', 'metadata', 'version']

/** What a field that has no effect here asks for in vain. */
const without: Readonly<Record<string, string>> = {
  profile_store_dir: 'profiles are in the settings',
}

/** `maxTurns`, `max-turns` and `max_turns` are one. */
const snake = (word: string): string =>
  word
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()

/** The fields, with a sentence for each that has no effect; or why the head is none. */
export function readHead(text: string): { head: FrontMatter; idle: string[] } | string {
  try {
    const data: unknown = text.trim() === '' ? {} : parse(text, { schema: 'core', maxAliasCount: 10 })
    const spelt = z.record(z.string(), z.unknown()).safeParse(data ?? {})
    if (!spelt.success) return 'its front matter is not a list of fields'
    const given = Object.fromEntries(
      Object.entries(spelt.data).map(([name, value]) => [aliases[snake(name)] ?? snake(name), value]),
    )
    const read = FrontMatter.safeParse(given)
    if (read.success) return { head: read.data, idle: idleIn(given, read.data) }
    const [issue] = read.error.issues
    return `${issue?.path.join('.')}: ${issue?.message}`
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'its front matter is not YAML'
  }
}

const mostNamed = 10
const longestName = 40

function idleIn(given: object, { condenser, permission_mode: mode, mcp_servers: servers }: FrontMatter): string[] {
  const names = Object.keys(given).filter((name) => !(name in FrontMatter.shape) && !forPeople.includes(name))
  const unknown = names.filter((name) => without[name] === undefined)
  const condensing = Object.keys(condenser ?? {}).filter((name) => name !== 'kind' && name !== 'max_size')
  return [
    ...names.flatMap((name) => (without[name] === undefined ? [] : `${name} has no effect: ${without[name]}`)),
    ...(unknown.length === 0 ? [] : [`fields without effect: ${short(unknown)}`]),
    ...(condensing.length === 0 ? [] : [`of condenser only kind and max_size have an effect`]),
    ...(servers && mode === 'plan' ? ['mcp_servers has no effect: whoever only plans starts no program'] : []),
    ...(servers && servers.idle.length > 0 ? [`mcp_servers has no effect for ${short(servers.idle)}: ${whyIdle}`] : []),
    ...(mode && weaker.includes(mode) ? ['permission_mode has no effect: it asks where its parent would ask'] : []),
  ]
}

const whyIdle = 'it has the servers of its parent, and only programs are started for it'
const short = (names: string[]): string =>
  names
    .slice(0, mostNamed)
    .map((name) => name.slice(0, longestName))
    .join(', ')

const weaker: readonly string[] = ['never_confirm', 'accept_edits', 'bypass_permissions', 'dont_ask']
