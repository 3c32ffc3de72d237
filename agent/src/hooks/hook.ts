import type { HookDefinition, HookEvent } from '@parley/contract/hook-config'
import type { Ran } from './command.ts'

/*
 * Hooks are commands of the user or the repository that run in the sandbox at set moments, or questions to a model. A command
 * is given one JSON object on its standard input; its exit code and what it prints say what follows. A model is shown the same
 * object and answers with what a command would print. `docs/agent.md` has the protocol.
 */

export type Moment = HookEvent

/** The names of the moments in events and on the standard input of a command. */
export const eventTypes: Readonly<Record<Moment, string>> = {
  pre_tool_use: 'PreToolUse',
  post_tool_use: 'PostToolUse',
  user_prompt_submit: 'UserPromptSubmit',
  session_start: 'SessionStart',
  session_end: 'SessionEnd',
  stop: 'Stop',
}

/** At the others a hook can be heard, but stops nothing. */
export const blocking: ReadonlySet<Moment> = new Set<Moment>(['pre_tool_use', 'user_prompt_submit', 'stop'])

/** What happens at the moment. */
export interface Facts {
  toolName?: string
  toolInput?: Record<string, unknown>
  toolResponse?: Record<string, unknown>
  message?: string
  actionId?: string
  messageId?: string
  /** A stop hook has already kept the agent from its end in this turn. */
  stopHookActive?: boolean
  metadata?: Record<string, unknown>
}

/** Asks a model what a hook of kind `prompt` or `agent` asks. `moment`: the hook's name where it has one. */
export type Judge = (
  asked: { hook: HookDefinition; moment: string; input: Record<string, unknown> },
  signal: AbortSignal,
) => Promise<Ran>

/** What all hooks of a moment said. */
export interface Fired {
  /** The reason of the first that blocks; the later ones were not run. */
  blocked: string | null
  /** For the model, in order. */
  context: string[]
}

export interface Hooks {
  has(moment: Moment): boolean
  /** One after the other, in order. Never rejects; an abort of the signal ends the one under way. */
  fire(moment: Moment, facts: Facts, signal: AbortSignal): Promise<Fired>
}
