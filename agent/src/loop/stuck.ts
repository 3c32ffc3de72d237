import { createHash } from 'node:crypto'
import type { Content, LogEvent } from '@parley/contract/events'

/*
 * Finds an agent that goes round in circles. An action and its result make a pair of hashes: tool and canonical arguments;
 * result with digits and temporary paths masked. Thoughts do not count, so other words for the same deed are the same deed.
 * Waiting is not a circle: an empty command on a process that lives, or anything that took 10 s or more.
 * Levels rise with the number of repeats: a nudge, a stronger nudge, stuck.
 */

export type StuckRule = 'repeated_action' | 'repeated_error' | 'alternation' | 'monologue'

export interface Suspicion {
  rule: StuckRule
  /** 1 nudge, 2 stronger nudge, 3 stuck. */
  level: 1 | 2 | 3
  evidence_seqs: number[]
}

interface Pair {
  /** The action; its `seq` is final only once it is committed. */
  event: LogEvent
  action: string
  result: string
  failed: boolean
}

export interface Habits {
  pairs: Pair[]
  begun: Map<string, { event: LogEvent; at: number; action: string; poll: boolean }>
  messages: LogEvent[]
  /** The highest level that was told since the circle began. */
  level: number
}

const remembered = 24
const slowMs = 10_000

export const newHabits = (): Habits => ({ pairs: [], begun: new Map(), messages: [], level: 0 })

/** The event that says which rule fired, stored with the nudge or before the run ends. */
export const stuckKey = 'stuck'

export function foldHabits(habits: Habits, event: LogEvent): void {
  switch (event.kind) {
    case 'MessageEvent':
      if (event.source === 'user') forget(habits)
      if (event.source === 'agent') habits.messages = [...habits.messages.slice(-8), event]
      return
    case 'ActionEvent':
      habits.messages = []
      habits.begun.set(event.tool_call_id, {
        event,
        at: Date.parse(event.timestamp),
        action: hash(`${event.tool_name} ${canonical(event.action ?? event.tool_call.arguments)}`),
        poll: isPoll(event.action),
      })
      return
    case 'ObservationEvent':
      return ended(habits, event, text(event.observation.content), event.observation.is_error, alive(event.observation))
    case 'AgentErrorEvent':
      return ended(habits, event, event.error, true, false)
    case 'UserRejectObservation':
      habits.begun.delete(event.tool_call_id)
      return
    case 'ConversationStateUpdateEvent': {
      if (event.key !== stuckKey) return
      const level = (event.value as Partial<Suspicion> | null)?.level ?? 0
      if (level === 3) forget(habits)
      else habits.level = level
      return
    }
    default:
  }
}

/** Null, or what should be said or done now; a level that was told already is not told again. */
export function suspicion(habits: Habits): Suspicion | null {
  const found = circle(habits.pairs) ?? monologue(habits.messages)
  if (found === null) {
    habits.level = 0
    return null
  }
  return found.level > habits.level ? found : null
}

export const nudgeText = (found: Suspicion): string =>
  found.level === 1
    ? `You have repeated the same step without a new result (${found.rule}). Look at what came back, and do something else.`
    : `You are still going in circles (${found.rule}); the run will be stopped. Change your approach now, or call finish and say what is in the way.`

function circle(pairs: Pair[]): Suspicion | null {
  for (let period = 1; period <= 4; period += 1) {
    const repeats = repeatsOf(pairs, period)
    if (repeats < 3) continue
    const evidence = pairs.slice(-repeats * period)
    const rule =
      period > 1 ? 'alternation' : evidence.every((pair) => pair.failed) ? 'repeated_error' : 'repeated_action'
    return { rule, level: levelOf(repeats), evidence_seqs: evidence.map((pair) => pair.event.seq) }
  }
  return null
}

function repeatsOf(pairs: Pair[], period: number): number {
  let run = 0
  for (let at = pairs.length - 1; at - period >= 0; at -= 1) {
    const [one, other] = [pairs[at], pairs[at - period]]
    if (one?.action !== other?.action || one?.result !== other?.result) break
    run += 1
  }
  return Math.floor(run / period) + 1
}

const monologue = (said: LogEvent[]): Suspicion | null =>
  said.length < 3
    ? null
    : { rule: 'monologue', level: levelOf(said.length), evidence_seqs: said.map((event) => event.seq) }

const levelOf = (repeats: number): 1 | 2 | 3 => (repeats >= 5 ? 3 : repeats === 4 ? 2 : 1)

function ended(
  habits: Habits,
  event: { tool_call_id: string; timestamp: string },
  output: string,
  failed: boolean,
  running: boolean,
): void {
  const begun = habits.begun.get(event.tool_call_id)
  if (begun === undefined) return
  habits.begun.delete(event.tool_call_id)
  if (begun.poll && running) return
  if (Date.parse(event.timestamp) - begun.at >= slowMs) return
  habits.pairs.push({ event: begun.event, action: begun.action, result: hash(masked(output)), failed })
  if (habits.pairs.length > remembered) habits.pairs.shift()
}

function forget(habits: Habits): void {
  habits.pairs = []
  habits.messages = []
  habits.level = 0
}

const isPoll = (action: Record<string, unknown> | null): boolean =>
  action?.['kind'] === 'TerminalAction' && action['command'] === ''

const alive = (observation: Record<string, unknown>): boolean =>
  observation['kind'] === 'TerminalObservation' && observation['exit_code'] === null

const text = (content: Content[]): string =>
  content.map((part) => (part.type === 'text' ? part.text : part.image_urls.join())).join('\n')

/** Times, counters, addresses and temporary names differ from run to run and mean nothing here. */
const masked = (output: string): string =>
  output
    .slice(0, 20_000)
    .replaceAll(/\/tmp\/\S+/g, '/tmp/#')
    .replaceAll(/0x[0-9a-f]+|\d+/gi, '#')

const hash = (value: string): string => createHash('sha1').update(value).digest('base64')

/** JSON with sorted members, so that the order the model wrote them in does not matter. */
function canonical(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(value, (_key, member: unknown) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
