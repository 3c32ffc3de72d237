import type { Content, LogEvent } from '@parley/contract/events'

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

export const textOf = (content: readonly Content[]): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('')

export const imagesOf = (content: readonly Content[]): string[] =>
  content.flatMap((part) => (part.type === 'image' ? part.image_urls : []))

/** The items of a part of the log. A result whose action is before that part is left out. */
export function timelineOf(events: readonly LogEvent[]): Item[] {
  const items: Item[] = []
  const calls = new Map<string, Extract<Item, { kind: 'tool' }>>()
  for (const event of events) {
    if (isOutcome(event)) {
      const call = calls.get(event.tool_call_id)
      if (call !== undefined) call.outcome = event
      continue
    }
    if (event.kind === 'ActionEvent') {
      items.push(...itemsOfAction(event))
      const last = items.at(-1)
      if (last?.kind === 'tool') calls.set(event.tool_call_id, last)
      continue
    }
    const item = itemOf(event)
    if (item !== undefined) items.push(item)
  }
  return items
}

const isOutcome = (event: LogEvent): event is Outcome =>
  event.kind === 'ObservationEvent' || event.kind === 'UserRejectObservation' || event.kind === 'AgentErrorEvent'

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

type Note = { tone: 'calm' | 'warning' | 'error'; text: string } | undefined

function itemOf(event: LogEvent): Item | undefined {
  const { id: key, seq } = event
  if (event.kind === 'MessageEvent') {
    const from = event.source === 'agent' ? 'agent' : 'user'
    return { kind: 'message', key, seq, from, content: event.llm_message.content, at: event.timestamp }
  }
  const note = noteOf(event)
  return note === undefined ? undefined : { kind: 'note', key, seq, ...note }
}

function noteOf(event: LogEvent): Note {
  switch (event.kind) {
    case 'ConversationErrorEvent':
      return { tone: 'error', text: event.detail }
    case 'NoticeEvent':
      return { tone: event.level === 'warning' ? 'warning' : 'calm', text: event.detail }
    case 'PauseEvent':
      return { tone: 'calm', text: event.reason ?? 'Paused' }
    case 'InterruptEvent':
      return { tone: 'calm', text: event.reason ?? 'Stopped' }
    case 'LLMRetryEvent':
      return { tone: 'warning', text: `The model is asked again (try ${event.attempt}): ${event.reason}` }
    case 'Condensation':
      return { tone: 'calm', text: 'The history was summarised for the model.' }
    case 'HookExecutionEvent':
      return event.success
        ? undefined
        : { tone: 'warning', text: `The hook ${event.hook_event_type} failed: ${event.hook_command}` }
    default:
      return undefined
  }
}

/** The tool calls at the end that nobody has answered yet. */
export const pendingCalls = (items: readonly Item[]): Extract<Item, { kind: 'tool' }>[] =>
  items.filter((item) => item.kind === 'tool').filter(({ outcome }) => outcome === null)
