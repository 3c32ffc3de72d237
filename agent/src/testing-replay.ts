import type { LogEvent, NewEvent } from '@parley/contract/events'
import { systemClock as clock } from '@parley/store/clock'
import { z } from 'zod'
import { notesIn } from './condense/words.ts'
import { Fenced, type Log } from './log.ts'
import { asideUsage } from './loop/aside.ts'
import type { EventOf } from './loop/events.ts'
import { seenSeq } from './loop/events.ts'
import { run } from './loop/loop.ts'
import type { RunOptions } from './loop/work.ts'
import { ModelError, type Model, type ModelPart } from './model/model.ts'
import { type MemoryLog, memoryLog, testRun } from './testing.ts'
import type { Tool } from './tools/tool.ts'
import { tools as usualTools, toolsFor } from './tools/tools.ts'

/*
 * A recorded conversation played again from its own log. What came from outside is taken from there: messages and answers of
 * the user at their place, what the model said, what the tools gave. The loop decides everything else anew, and must come to
 * the same. Nothing is executed and nothing is asked over a network. Not covered: hooks, critics, sub-agents' accounts.
 */

export interface Replay {
  /** The first event of the loop that is not as it was; null: all are. */
  difference: { at: number; was: unknown; is: unknown } | null
  /** Events of the loop that were compared. */
  compared: number
  events: readonly LogEvent[]
}

/** `tools`: beside Parley's own, for what they make of arguments; they are not run. */
type Bounds = Partial<Pick<RunOptions, 'condenser' | 'tools'>> & { policy?: Partial<RunOptions['policy']> }

export async function replay(recorded: readonly LogEvent[], { tools = [], ...bounds }: Bounds = {}): Promise<Replay> {
  const tape = tapeOf(recorded, tools)
  const options = {
    model: tape.model,
    tools: tape.tools,
    log: tape.log,
    ...bounds,
    policy: { ...tape.policy, ...bounds.policy },
  }
  for (let before = -1; before < tape.position() && tape.position() < tape.own.length;) {
    before = tape.position()
    tape.feed()
    await run(testRun(options))
  }
  return compare(tape.own, tape.made())
}

/** What the loop itself writes; the rest is from outside or of the moment. */
const ownKinds: Partial<Record<LogEvent['kind'], (event: never) => boolean>> = {
  ActionEvent: () => true,
  ObservationEvent: () => true,
  UserRejectObservation: () => true,
  AgentErrorEvent: () => true,
  Condensation: () => true,
  ConversationErrorEvent: () => true,
  LLMCallEvent: ({ usage_id }: EventOf<'LLMCallEvent'>) => usage_id !== asideUsage && !usage_id.startsWith('delegate:'),
  MessageEvent: ({ source }: EventOf<'MessageEvent'>) => source === 'agent' || source === 'environment',
  ConversationStateUpdateEvent: ({ key }: EventOf<'ConversationStateUpdateEvent'>) =>
    ['confirmation_requested', 'confirmation_started', 'stuck'].includes(key),
  NoticeEvent: ({ code }: EventOf<'NoticeEvent'>) => ['images_removed', 'budget_warning'].includes(code),
}
const isOwn = (event: LogEvent): boolean => ownKinds[event.kind]?.(event as never) === true

const isOutside = (event: LogEvent): boolean => event.source === 'user' || event.kind === 'CondensationRequest'

/** The recording as the loop meets it. */
function tapeOf(recorded: readonly LogEvent[], tools: readonly Tool[]) {
  const own = recorded.filter(isOwn)
  const system = recorded.filter((event) => event.kind === 'SystemPromptEvent').slice(0, 1)
  const outside = recorded.filter(isOutside)
  const memory = memoryLog(clock, structuredClone(system))
  const names = new Map<string, string>()
  let fed = 0
  const made = () => memory.stored.filter(isOwn)
  const position = () => made().length

  /** Ids of the recording in an event from outside become those of this time. */
  const translated = (event: LogEvent): NewEvent => {
    made().forEach((now, at) => names.set(own[at]?.id ?? '', now.id))
    const text = JSON.stringify(event).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => names.get(id) ?? id)
    return JSON.parse(text) as NewEvent
  }
  /** Everything from outside that was there before the loop's next word, but not what the next call had not seen yet. */
  function feed(unseen = false): void {
    const next = own[position()]
    if (next === undefined) return
    const call = own.slice(position()).find(isMainCall)
    const seen = call === undefined || unseen ? Infinity : seenSeq(call)
    const until = call !== undefined && seen > next.seq ? call.seq : next.seq
    for (; fed < outside.length; fed += 1) {
      const event = outside[fed]
      if (event === undefined || event.seq > until || (event.kind === 'MessageEvent' && event.seq > seen)) return
      memory.arrive(translated(event))
    }
  }
  return {
    own,
    made,
    position,
    feed,
    policy: { confirmation: confirmationOf(recorded), retries: once },
    log: fedLog(memory, feed),
    model: recordedModel(own, position, () => feed(true)),
    tools: recordedTools(recorded, tools, (action) => {
      feed()
      const at = made().findIndex((event) => event.id === action)
      const was = own[at]
      return was?.kind === 'ActionEvent' ? was.tool_call_id : ''
    }),
  }
}

const once = { attempts: 1, multiplier: 1, minWaitMs: 1, maxWaitMs: 1 }

const isMainCall = (event: LogEvent): event is EventOf<'LLMCallEvent'> =>
  event.kind === 'LLMCallEvent' && event.usage_id === 'default'

function fedLog(memory: MemoryLog, feed: () => void): Log {
  return {
    events: memory.events,
    append: (...events) => memory.append(...events),
    flush: () => memory.flush(),
    publish: () => {},
    get readSeq() {
      return memory.readSeq
    },
    async inbox() {
      await memory.flush().catch((error: unknown) => {
        if (error instanceof Fenced) throw error
      })
      feed()
      return memory.inbox()
    },
    woken: (signal) => memory.woken(signal),
  }
}

/** Whoever waited for a person then waits again. */
function confirmationOf(recorded: readonly LogEvent[]): RunOptions['policy']['confirmation'] {
  const ids = recorded.flatMap((event) =>
    event.kind === 'ConversationStateUpdateEvent' && event.key === 'confirmation_requested'
      ? (event.value as { action_ids: string[] }).action_ids
      : [],
  )
  const calls = recorded.flatMap((event) =>
    event.kind === 'ActionEvent' && ids.includes(event.id) ? [event.tool_call_id] : [],
  )
  return ({ call }) => (calls.includes(call.id) ? 'ask' : 'go')
}

/** Says what was said at this place of the log. `late`: what arrived while it was said. */
function recordedModel(own: readonly LogEvent[], position: () => number, late: () => void): Model {
  return {
    name: 'recorded',
    contextWindow: null,
    vision: true,
    cost: () => null,
    async *stream(request, signal) {
      await Promise.resolve() // what was appended before the call is committed
      const rest = own.slice(position())
      const at = rest.findIndex((event) => event.kind === 'LLMCallEvent')
      const failed = rest[0]?.kind === 'ConversationErrorEvent'
      if (failed) throw new ModelError(kindOf(rest[0] as EventOf<'ConversationErrorEvent'>), '')
      const call = rest[at]
      late()
      if (call?.kind !== 'LLMCallEvent') {
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        return
      }
      yield* answerTo(call, rest.slice(at + 1), request.toolChoice === 'none')
    },
  }
}

const kindOf = ({ code }: EventOf<'ConversationErrorEvent'>): ModelError['kind'] => {
  const kinds: Record<string, ModelError['kind']> = {
    LLMAuthenticationError: 'auth',
    LLMQuotaExceeded: 'quota',
    LLMRateLimited: 'rate_limit',
    LLMOverloaded: 'overloaded',
    LLMContextWindowExceeded: 'context_overflow',
    LLMBadRequest: 'bad_request',
    LLMConfigurationError: 'config',
  }
  return kinds[code] ?? 'transient'
}

function* answerTo(
  call: EventOf<'LLMCallEvent'>,
  after: readonly LogEvent[],
  isSummary: boolean,
): Generator<ModelPart> {
  const finish = { type: 'finish' as const, usage: call.usage, responseId: call.response_id }
  if (isSummary) {
    const notes = after.find((event) => event.kind === 'Condensation')
    const summary = notes?.kind === 'Condensation' ? (notes.summary ?? '') : ''
    yield { type: 'text', text: notesIn(summary) }
    yield { ...finish, reason: 'stop' }
    return
  }
  const said = after.filter((event) => 'llm_response_id' in event && event.llm_response_id === call.response_id)
  const first = said[0]
  if (first?.kind === 'MessageEvent') yield* words(first.llm_message, first.llm_message.content)
  if (first?.kind === 'ActionEvent') yield* words(first, first.thought)
  for (const event of said) {
    if (event.kind !== 'ActionEvent') continue
    const { id, name, arguments: args } = event.tool_call
    yield { type: 'tool-call', id, name, arguments: args === malformed ? '{"malformed' : args }
  }
  yield { ...finish, reason: reasonOf(said, after) }
}

const malformed = JSON.stringify({ malformed: true })

function* words(
  {
    reasoning_content: reasoning,
    thinking_blocks: blocks,
  }: Pick<EventOf<'ActionEvent'>, 'reasoning_content' | 'thinking_blocks'>,
  content: EventOf<'ActionEvent'>['thought'],
): Generator<ModelPart> {
  if (blocks === undefined && reasoning) yield { type: 'reasoning', text: reasoning }
  for (const block of blocks ?? []) {
    if (block.thinking !== undefined) yield { type: 'reasoning', text: block.thinking }
    yield {
      type: 'reasoning-end',
      ...(block.signature === undefined ? {} : { signature: block.signature }),
      ...(block.data === undefined ? {} : { redacted: block.data }),
    }
  }
  for (const part of content) if (part.type === 'text') yield { type: 'text', text: part.text }
}

/** Why an answer ended is told by what the loop said to it. */
function reasonOf(said: readonly LogEvent[], after: readonly LogEvent[]): 'stop' | 'tools' | 'length' | 'refusal' {
  if (said.some((event) => event.kind === 'ActionEvent')) return 'tools'
  const next = after[said.length]
  if (next?.kind !== 'MessageEvent' || next.source !== 'environment') return 'stop'
  const [text] = next.llm_message.content
  if (text?.type === 'text' && /output limit/.test(text.text)) return 'length'
  return said.length === 0 && text?.type === 'text' && /refused/.test(text.text) ? 'refusal' : 'stop'
}

/** The tools of that time; each call gives what it gave. `begun` tells the recorded call of an action of now. */
function recordedTools(
  recorded: readonly LogEvent[],
  given: readonly Tool[],
  begun: (action: string) => string,
): Tool[] {
  const known = [
    ...given,
    ...usualTools,
    ...toolsFor({
      agents: [],
      browser: '',
      agentType: 'default',
      provider: null,
      web: { fetch, key: '' },
      children: { work: () => Promise.reject(new Error('nobody works in a replay')) },
      names: null,
      builtIn: [],
      filter: null,
    }),
  ]
  const [system] = recorded.filter((event) => event.kind === 'SystemPromptEvent')
  const names = system?.kind === 'SystemPromptEvent' ? (system.tools as { name: string }[]).map(({ name }) => name) : []
  const wanted = names.length > 0 ? names : known.map((tool) => tool.name)
  const results = resultsOf(recorded)
  return [...new Set(wanted)].map((name) => ({
    ...(known.find((tool) => tool.name === name) ?? foreign(name, recorded)),
    handless: true,
    run: (_, { call, signal }) => {
      const id = begun(call.id)
      return results(id, signal)
    },
  }))
}

/** A tool of another's server: any arguments will do. */
function foreign(name: string, recorded: readonly LogEvent[]): Tool {
  const one = recorded.find(
    (event) => event.kind === 'ActionEvent' && event.tool_name === name && event.action !== null,
  )
  const kind = one?.kind === 'ActionEvent' ? String(one.action?.kind) : 'MCPToolAction'
  return {
    name,
    aliases: [],
    description: '',
    input: z.looseObject({}),
    actionKind: kind,
    observationKind: kind.replace(/Action$/, 'Observation'),
    readOnly: false,
    repair: kind === 'MCPToolAction' ? (given) => ({ data: given }) : (given) => given,
    resources: () => [],
    run: () => Promise.reject(new Error('never')),
  }
}

function resultsOf(recorded: readonly LogEvent[]) {
  const byCall = new Map<string, LogEvent>()
  for (const event of recorded)
    if (event.kind === 'ObservationEvent' || event.kind === 'AgentErrorEvent') byCall.set(event.tool_call_id, event)
  return (id: string, signal: AbortSignal) => {
    const result = byCall.get(id)
    if (result?.kind === 'ObservationEvent') return Promise.resolve(structuredClone(result.observation))
    if (result?.kind === 'AgentErrorEvent' && result.classification?.kind !== 'unknown')
      return Promise.reject(new Error(result.error.replace(/^The tool failed: /, '')))
    // It had no end of its own.
    return new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  }
}

/** What is different each time, and what a judge outside said. */
const passing = new Set([
  'id', 'seq', 'timestamp', 'parent_id', 'latency_ms', 'first_token_ms', 'attempts', 'seen_seq', 'cost', 'model',
  'risk', 'security_risk', 'expires_at', 'tokens_before', 'tokens_after', 'evidence_seqs', 'detail', 'usage', 'llm_response_id',
  'response_id', 'extended_content',
]) // prettier-ignore

function compare(own: readonly LogEvent[], made: readonly LogEvent[]): Replay {
  const [was, is] = [own.map(lasting(own)), made.map(lasting(made))]
  const length = Math.max(was.length, is.length)
  const at = Array.from({ length }, (_, index) => index).find((index) => was[index] !== is[index])
  const parsed = (text: string | undefined): unknown => (text === undefined ? null : JSON.parse(text))
  const difference = at === undefined ? null : { at, was: parsed(was[at]), is: parsed(is[at]) }
  return { difference, compared: own.length, events: made }
}

/** Without what passes, and with places in the log for ids. */
function lasting(events: readonly LogEvent[]): (event: LogEvent) => string {
  const places = new Map(events.map((event, at) => [event.id, `event ${at}`]))
  return (event) =>
    JSON.stringify(event, (key, value: unknown) => {
      if (passing.has(key) && value !== event) return undefined
      if (typeof value === 'string') return places.get(value) ?? value
      if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
      return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    })
}
