import type { Content, LogEvent } from '@parley/contract/events'
import { imageCharacters, resultLimit, type Forgotten } from '../loop/view.ts'

/** Events that stay or go together: an answer with all its calls and results, or one message. */
export interface Atom {
  kind: 'answer' | 'user' | 'note'
  events: LogEvent[]
  tokens: number
  /**
   * Whether a history may go on from here. An answer without signed thoughts, in a chain of calls that began with them, may
   * not: providers want the thoughts of the chain under way back.
   */
  mayBegin: boolean
}

/** The parts of the history that a condenser may leave out, oldest first; the system prompt is none of them. */
export function atomsOf(events: readonly LogEvent[], { ids, stubs }: Forgotten): Atom[] {
  const atoms: Atom[] = []
  const answers = new Map<string, Atom>()
  const ofCall = new Map<string, Atom>()
  let thinking = false
  for (const event of events) {
    if (ids.has(event.id)) continue
    const tokens = Math.ceil(shownCharacters(event, stubs) / 4)
    if (event.kind === 'MessageEvent') {
      thinking = false
      const kind = event.source === 'agent' ? 'answer' : event.source === 'user' ? 'user' : 'note'
      atoms.push({ kind, events: [event], tokens, mayBegin: true })
    } else if (event.kind === 'ActionEvent') {
      const signed = (event.thinking_blocks?.length ?? 0) > 0
      const known = answers.get(event.llm_response_id)
      const atom = known ?? { kind: 'answer', events: [], tokens: 0, mayBegin: signed || !thinking }
      thinking ||= signed
      if (known === undefined) atoms.push(atom)
      answers.set(event.llm_response_id, atom)
      ofCall.set(event.tool_call_id, atom)
      add(atom, event, tokens)
    } else if (isResult(event)) {
      const atom = ofCall.get(event.tool_call_id)
      if (atom !== undefined) add(atom, event, tokens)
    }
  }
  return atoms
}

function add(atom: Atom, event: LogEvent, tokens: number): void {
  atom.events.push(event)
  atom.tokens += tokens
}

export const tokensOf = (atoms: readonly Atom[]): number => atoms.reduce((sum, atom) => sum + atom.tokens, 0)
export const eventsOf = (atoms: readonly Atom[]): number => atoms.reduce((sum, atom) => sum + atom.events.length, 0)

type Result = Extract<LogEvent, { kind: 'ObservationEvent' | 'UserRejectObservation' | 'AgentErrorEvent' }>
const isResult = (event: LogEvent): event is Result =>
  event.kind === 'ObservationEvent' || event.kind === 'UserRejectObservation' || event.kind === 'AgentErrorEvent'

function shownCharacters(event: LogEvent, stubs: Forgotten['stubs']): number {
  switch (event.kind) {
    case 'MessageEvent':
      return length([...event.llm_message.content, ...(event.extended_content ?? [])])
    case 'ActionEvent':
      return length(event.thought) + event.tool_call.arguments.length
    case 'ObservationEvent':
      return stubs.get(event.id)?.length ?? Math.min(resultLimit, length(event.observation.content))
    case 'AgentErrorEvent':
      return event.error.length
    case 'UserRejectObservation':
      return event.rejection_reason.length
    default:
      return 0
  }
}

const length = (content: readonly Content[]): number =>
  content.reduce((sum, one) => sum + (one.type === 'text' ? one.text.length : imageCharacters), 0)
