import type { Content, LogEvent } from '@parley/contract/events'
import { t } from '../i18n/translate.ts'

/*
 * The log as a person reads it: messages, and each tool call together with what came of it. Pure.
 */

type Of<K extends LogEvent['kind']> = Extract<LogEvent, { kind: K }>
export type Outcome = Of<'ObservationEvent'> | Of<'UserRejectObservation'> | Of<'AgentErrorEvent'>

export type Item =
  | { kind: 'message'; key: string; seq: number; from: 'user' | 'agent'; content: Content[]; at: string }
  | { kind: 'thought'; key: string; seq: number; text: string }
  | { kind: 'tool'; key: string; seq: number; action: Of<'ActionEvent'>; outcome: Outcome | null }
  | { kind: 'note'; key: string; seq: number; tone: 'calm' | 'warning' | 'error'; text: string }
  | ({ kind: 'turn'; key: string; seq: number } & Turn)

export type Tool = Extract<Item, { kind: 'tool' }>

/** What the agent took from a message to its rest. `cost` in US dollars, null when no price is known. */
export interface Turn {
  ms: number
  tokens: number
  cost: number | null
}

export const textOf = (content: readonly Content[]): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('')

export const imagesOf = (content: readonly Content[]): string[] =>
  content.flatMap((part) => (part.type === 'image' ? part.image_urls : []))

/**
 * The items of a part of the log. A result whose action is before that part is left out. An item that says the same as
 * before is the same object, so that what draws it can tell.
 */
export function timelineOf(events: readonly LogEvent[]): Item[] {
  const items: Item[] = []
  const places = new Map<string, number>()
  let turn: Spent | null = null
  for (const event of events) {
    turn = spentAfter(turn, event)
    if (isOutcome(event)) {
      const place = places.get(event.tool_call_id) ?? -1
      const call = items[place]
      if (call?.kind === 'tool') items[place] = answered(call, event)
      continue
    }
    items.push(...itemsOf(event))
    if (event.kind === 'ActionEvent' && items.at(-1)?.kind === 'tool') places.set(event.tool_call_id, items.length - 1)
    if (turn !== null && turn.calls > 0 && isRest(event)) {
      items.push(endOf(turn, event))
      turn = null
    }
  }
  return items
}

const isOutcome = (event: LogEvent): event is Outcome =>
  event.kind === 'ObservationEvent' || event.kind === 'UserRejectObservation' || event.kind === 'AgentErrorEvent'

/** Events never change, and neither do the items made of them alone. */
const made = new WeakMap<LogEvent, Item[]>()

function itemsOf(event: LogEvent): Item[] {
  const known = made.get(event) ?? (event.kind === 'ActionEvent' ? itemsOfAction(event) : itemOf(event))
  made.set(event, known)
  return known
}

function answered(call: Tool, outcome: Outcome): Tool {
  const [known] = made.get(outcome) ?? []
  if (known?.kind === 'tool' && known.action === call.action) return known
  const item: Tool = { ...call, outcome }
  made.set(outcome, [item])
  return item
}

interface Spent {
  since: number
  calls: number
  tokens: number
  cost: number | null
}

/** What has been spent since the last message of a person; null before one. */
function spentAfter(turn: Spent | null, event: LogEvent): Spent | null {
  if (event.kind === 'MessageEvent' && event.source === 'user')
    return turn ?? { since: Date.parse(event.timestamp), calls: 0, tokens: 0, cost: null }
  if (turn === null || event.kind !== 'LLMCallEvent' || isAside(event)) return turn
  const tokens = turn.tokens + event.usage.prompt_tokens + event.usage.completion_tokens
  const cost = event.cost === null ? turn.cost : (turn.cost ?? 0) + event.cost
  return { ...turn, calls: turn.calls + 1, tokens, cost }
}

/** What a question beside the work has cost: no step of the agent. */
const isAside = (event: LogEvent): boolean => event.kind === 'LLMCallEvent' && event.usage_id === 'ask'

const isRest = (event: LogEvent): boolean =>
  event.kind === 'ConversationStateUpdateEvent' &&
  event.key === 'execution_status' &&
  ['finished', 'idle', 'paused', 'error', 'stuck'].includes(String(event.value))

const ends = new WeakMap<LogEvent, Extract<Item, { kind: 'turn' }>>()

function endOf({ since, tokens, cost }: Spent, event: LogEvent): Item {
  const known = ends.get(event)
  const ms = Date.parse(event.timestamp) - since
  if (known?.ms === ms && known.tokens === tokens) return known
  const item = { kind: 'turn' as const, key: event.id, seq: event.seq, ms, tokens, cost }
  ends.set(event, item)
  return item
}

function itemsOfAction(action: Of<'ActionEvent'>): Item[] {
  const { id, seq, timestamp } = action
  const items: Item[] = []
  const thought = textOf(action.thought)
  if (thought.trim() !== '')
    items.push({ kind: 'message', key: `${id}t`, seq, from: 'agent', content: action.thought, at: timestamp })
  const said = action.action?.kind === 'FinishAction' ? action.action['message'] : undefined
  const thinks = action.action?.kind === 'ThinkAction' ? action.action['thought'] : undefined
  if (typeof said === 'string')
    items.push({ kind: 'message', key: id, seq, from: 'agent', content: [plain(said)], at: timestamp })
  else if (typeof thinks === 'string') items.push({ kind: 'thought', key: id, seq, text: thinks })
  else items.push({ kind: 'tool', key: id, seq, action, outcome: null })
  return items
}

const plain = (text: string): Content => ({ type: 'text', text, cache_prompt: false })

/** Messages that came while the agent was at work and that no later call of the model has read, by event id. */
export function queuedMessages(events: readonly LogEvent[]): ReadonlySet<string> {
  const waiting: string[] = []
  for (const event of events.toReversed()) {
    if (isAside(event)) continue
    if (event.source === 'agent' || event.kind === 'LLMCallEvent') break
    if (event.kind === 'ConversationStateUpdateEvent' && event.key === 'execution_status')
      return new Set(event.value === 'running' ? waiting : [])
    if (event.kind === 'MessageEvent') waiting.push(event.id)
  }
  return new Set(waiting)
}

type Note = { tone: 'calm' | 'warning' | 'error'; text: string } | undefined

function itemOf(event: LogEvent): Item[] {
  const { id: key, seq } = event
  if (event.kind === 'MessageEvent') {
    const from = event.source === 'agent' ? 'agent' : 'user'
    return [{ kind: 'message', key, seq, from, content: event.llm_message.content, at: event.timestamp }]
  }
  const note = noteOf(event)
  return note === undefined ? [] : [{ kind: 'note', key, seq, ...note }]
}

function noteOf(event: LogEvent): Note {
  switch (event.kind) {
    case 'ConversationErrorEvent':
      return { tone: 'error', text: event.detail }
    case 'NoticeEvent':
      return { tone: event.level === 'warning' ? 'warning' : 'calm', text: event.detail }
    case 'PauseEvent':
      return { tone: 'calm', text: event.reason ?? t('chat.paused') }
    case 'InterruptEvent':
      return { tone: 'calm', text: event.reason ?? t('chat.stopped') }
    case 'LLMRetryEvent':
      return { tone: 'warning', text: t('chat.retried', { attempt: event.attempt, reason: event.reason }) }
    case 'CondensationRequest':
      return { tone: 'calm', text: t('chat.condense-asked') }
    case 'Condensation':
      return { tone: 'calm', text: t('chat.condensed') }
    case 'HookExecutionEvent':
      return event.success
        ? undefined
        : { tone: 'warning', text: t('chat.hook-failed', { hook: event.hook_event_type, command: event.hook_command }) }
    default:
      return undefined
  }
}

/** What the agent does, by the newest event that says it; undefined when none of these does. */
export function statusIn(events: readonly LogEvent[]): unknown {
  const said = events.findLast(
    (event): event is Of<'ConversationStateUpdateEvent'> =>
      event.kind === 'ConversationStateUpdateEvent' && event.key === 'execution_status',
  )
  return said?.value
}

/** The tool calls at the end that nobody has answered yet. */
export const pendingCalls = (items: readonly Item[]): Tool[] =>
  items.filter((item) => item.kind === 'tool').filter(({ outcome }) => outcome === null)
