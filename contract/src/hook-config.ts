import { z } from 'zod'
import { described } from './described.ts'

/** Moments at which a hook can run, as keys of the configuration. */
export const hookEvents = [
  'pre_tool_use',
  'post_tool_use',
  'user_prompt_submit',
  'session_start',
  'session_end',
  'stop',
] as const
export const HookEvent = z.enum(hookEvents)
export type HookEvent = z.infer<typeof HookEvent>

/**
 * What happens at that moment: a shell command in the sandbox, a question to the conversation's model (`prompt`), or the same
 * with tools that read (`agent`). `timeout` is in seconds.
 */
export const HookDefinition = z
  .strictObject(
    described(
      {
        type: z.enum(['command', 'prompt', 'agent']).default('command'),
        name: z.string().max(255).optional(),
        command: z.string().min(1).max(100_000).optional(),
        prompt: z.string().min(1).max(20_000).optional().meta({ description: 'The rule that a model judges by.' }),
        system_prompt: z.string().max(20_000).optional(),
        tools: z
          .array(z.string().max(255))
          .max(100)
          .optional()
          .meta({ description: 'Of an `agent`: those of the tools that read; absent: all of them.' }),
        max_iterations: z
          .int()
          .min(1)
          .max(10)
          .optional()
          .meta({ description: 'Of an `agent`: calls of the model; 3.' }),
        timeout: z.number().positive().max(3600).default(60),
        async: z.boolean().default(false),
        on_failure: z.enum(['allow', 'deny']).optional().meta({
          description: 'What a hook that fails or takes too long means where a hook can block. Absent: `allow`.',
        }),
      },
      {
        type: '`command`: a shell command in the sandbox; `prompt`: a question to the conversation’s model; `agent`: the same with tools that read.',
        name: 'What its events call it.',
        command: 'Of a `command`: runs with the facts of the moment as JSON on its standard input. Exit code 2 blocks.',
        system_prompt: 'Of a `prompt` or `agent`: told to the model before the rule.',
        timeout: 'Seconds after which it has failed.',
        async: 'True: it is started and not waited for, so it cannot block. Of commands only.',
      },
    ),
  )
  .superRefine(({ type, command, prompt, async: unwaited }, ctx) => {
    const refuse = (path: string, message: string) => ctx.addIssue({ code: 'custom', path: [path], message })
    if (type === 'command' && command === undefined) refuse('command', 'is missing')
    if (type !== 'command' && prompt === undefined) refuse('prompt', 'is missing')
    if (type !== 'command' && unwaited) refuse('async', 'is for commands only')
  })
  .meta({ id: 'HookDefinition' })
export type HookDefinition = z.infer<typeof HookDefinition>

/** `matcher`: `*` or empty for every tool, a tool's name, or a regular expression (full match). */
export const HookMatcher = z
  .strictObject(
    described(
      {
        matcher: z.string().max(1000).default('*'),
        hooks: z.array(HookDefinition).max(50).default([]),
      },
      {
        matcher: 'Of which tools: `*` or empty for every one, a name, or a regular expression that matches it whole.',
        hooks: 'They run one after the other, until one blocks.',
      },
    ),
  )
  .meta({ id: 'HookMatcher' })
export type HookMatcher = z.infer<typeof HookMatcher>

const matchers = z.array(HookMatcher).max(50).default([])

/** Hooks by moment. Unknown members are refused: a misspelt hook that never runs is worse than an error. */
export const HookConfig = z
  .strictObject(
    described(
      {
        pre_tool_use: matchers,
        post_tool_use: matchers,
        user_prompt_submit: matchers,
        session_start: matchers,
        session_end: matchers,
        stop: matchers,
      },
      {
        pre_tool_use: 'Before a call of a tool, which they can block.',
        post_tool_use: 'After a call of a tool; what they add is told to the model.',
        user_prompt_submit: 'When a message of the user comes, which they can block.',
        session_start: 'Before the first step after a rest; a pause or a confirmation is none.',
        session_end: 'When the agent rests: finished, error or stuck.',
        stop: 'When the agent wants to stop, which they can block: it goes on then.',
      },
    ),
  )
  .meta({ id: 'HookConfig' })
export type HookConfig = z.infer<typeof HookConfig>

const snake = (word: string): string =>
  /^[A-Z]/.test(word) ? word.replaceAll(/(?!^)([A-Z])/g, '_$1').toLowerCase() : word

/** Other spellings of a configuration: within an outer `hooks`, and with moments such as `PreToolUse`. */
export function hookConfigSpelling(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value)
  const [first] = entries
  if (entries.length === 1 && first?.[0] === 'hooks') return hookConfigSpelling(first[1])
  return Object.fromEntries(entries.map(([key, matchers]) => [snake(key), matchers]))
}

/** A configuration in a request or a file, in any of its spellings. */
export const HookConfigInput = z.preprocess(hookConfigSpelling, HookConfig)
