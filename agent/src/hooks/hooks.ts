import type { NewEvent } from '@parley/contract/events'
import type { HookConfig, HookDefinition } from '@parley/contract/hook-config'
import type { Hands } from '@parley/sandbox/driver'
import type { Clock } from '@parley/store/clock'
import { runHook, type Ran } from './command.ts'
import { blocking, eventTypes, type Facts, type Fired, type Hooks, type Judge, type Moment } from './hook.ts'
import { matches } from './matcher.ts'
import { verdictOf, type Verdict } from './verdict.ts'

export interface HookParts {
  config: HookConfig
  /** Rejects when there is no sandbox to be had. */
  hands: (signal: AbortSignal) => Promise<Hands>
  conversation: string
  workingDir: string
  clock: Clock
  write: (event: NewEvent) => void
  /** Asks a model; never rejects. */
  judge: Judge
}

/** Hooks of one moment that a model judges: repositories bring hooks, and a model costs money. */
const mostJudged = 5
/** Hooks that are not waited for and still run. */
const mostUnwaited = 8
/** Characters of a hook's input that its event repeats. */
const mostInput = 8_000

/** The hooks of one conversation. Every execution is an event; none holds up another conversation. */
export function openHooks(parts: HookParts): Hooks {
  const unwaited = { running: 0 }
  return {
    has: (moment) => parts.config[moment].some(({ hooks }) => hooks.length > 0),
    async fire(moment, facts, signal) {
      const fired: Fired = { blocked: null, context: [] }
      const input = inputOf(parts, moment, facts)
      let judged = 0
      for (const hook of chosen(parts.config, moment, facts.toolName ?? null)) {
        if (hook.type !== 'command') judged += 1
        const one = { parts, moment, facts, hook, input, beyond: judged > mostJudged }
        if (hook.async) {
          start(one, unwaited)
          continue
        }
        const verdict = await execute(one, signal)
        if (signal.aborted) return fired
        if (verdict.context !== null) fired.context.push(verdict.context)
        if (!verdict.blocked || !blocking.has(moment)) continue
        fired.blocked = verdict.reason
        return fired
      }
      return fired
    },
  }
}

interface One {
  parts: HookParts
  moment: Moment
  facts: Facts
  hook: HookDefinition
  input: Record<string, unknown>
  /** More than are asked at one moment. */
  beyond: boolean
}

const chosen = (config: HookConfig, moment: Moment, tool: string | null): HookDefinition[] =>
  config[moment].flatMap(({ matcher, hooks }) => (matches(matcher, tool) ? hooks : []))

async function execute(one: One, signal: AbortSignal): Promise<Verdict> {
  const { parts, hook, moment } = one
  const begun = parts.clock.millis()
  const ran = await run(one, signal)
  const verdict = verdictOf(hook, ran)
  const blocked = verdict.blocked && blocking.has(moment)
  if (!signal.aborted)
    parts.write({ ...told(one, ran), ...said(verdict, blocked), latency_ms: parts.clock.millis() - begun })
  return verdict
}

const nothing: Ran = { code: null, stdout: '', stderr: '', error: null }

/** Told at its start, for the run may be over at its end; ended when its own time is up. */
function start(one: One, unwaited: { running: number }): void {
  const full = unwaited.running >= mostUnwaited
  const error = full ? `Not started: ${mostUnwaited} hooks that nobody waits for still run.` : null
  one.parts.write({ ...told(one, { ...nothing, error }), success: !full, blocked: false, async: true })
  if (full) return
  unwaited.running += 1
  void run(one, new AbortController().signal).finally(() => (unwaited.running -= 1))
}

async function run(one: One, signal: AbortSignal): Promise<Ran> {
  const { parts, hook, moment, input } = one
  if (hook.type === 'command') return runCommand(one, signal)
  if (one.beyond) return { ...nothing, error: `Not asked: a model judges ${mostJudged} hooks of one moment at most.` }
  return parts.judge({ hook, moment: hook.name ?? moment, input }, signal)
}

async function runCommand({ parts, moment, facts, hook, input }: One, signal: AbortSignal): Promise<Ran> {
  const { conversation, workingDir, clock } = parts
  const facing = {
    PROJECT_DIR: workingDir,
    SESSION_ID: conversation,
    EVENT_TYPE: eventTypes[moment],
    TOOL_NAME: facts.toolName ?? '',
  }
  const env = Object.fromEntries(
    Object.entries(facing).flatMap(([name, value]) => prefixes.map((prefix) => [`${prefix}_${name}`, value])),
  )
  try {
    const hands = await parts.hands(signal)
    const command = {
      command: hook.command ?? '',
      env,
      cwd: workingDir,
      stdin: JSON.stringify(input),
      timeoutMs: hook.timeout * 1000,
    }
    return await runHook(hands, command, clock, signal)
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    return { code: null, stdout: '', stderr: '', error: `There is no sandbox to run it in: ${cause}` }
  }
}

/** Hooks of a `.openhands` folder find their variables too. */
const prefixes = ['PARLEY', 'OPENHANDS']

const inputOf = ({ conversation, workingDir }: HookParts, moment: Moment, facts: Facts): Record<string, unknown> => ({
  event_type: eventTypes[moment],
  tool_name: facts.toolName ?? null,
  tool_input: facts.toolInput ?? null,
  tool_response: facts.toolResponse ?? null,
  message: facts.message ?? null,
  session_id: conversation,
  working_dir: workingDir,
  ...(moment === 'stop' ? { stop_hook_active: facts.stopHookActive === true } : {}),
  metadata: facts.metadata ?? {},
})

const told = ({ moment, hook, facts, input }: One, { code, stdout, stderr, error }: Ran) => ({
  kind: 'HookExecutionEvent' as const,
  source: 'hook' as const,
  hook_event_type: eventTypes[moment],
  hook_command: hook.command ?? hook.prompt ?? '',
  hook_name: hook.name ?? null,
  tool_name: facts.toolName ?? null,
  action_id: facts.actionId ?? null,
  message_id: facts.messageId ?? null,
  hook_input: JSON.stringify(input).length <= mostInput ? input : null,
  exit_code: code,
  stdout,
  stderr,
  error,
})

const said = ({ success, reason, context }: Verdict, blocked: boolean) => ({
  success,
  blocked,
  reason,
  additional_context: context,
})
