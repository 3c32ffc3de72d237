import type { LogEvent, Usage } from '@parley/contract/events'
import { expiredReason, expiryOf, namedActions, readConfirmation, type Arguments } from './confirm.ts'
import {
  asksForRun,
  blockedMessages,
  blockedMessagesKey,
  checkedMessagesKey,
  criticKey,
  mainUsage,
  seenSeq,
  sessionKey,
  stopHooksKey,
  type EventOf,
} from './events.ts'
import { foldHabits, newHabits, type Habits } from './stuck.ts'

/** A call without a result. `started`: it may have been executed, by us or by a worker that died. */
export interface OpenCall {
  action: EventOf<'ActionEvent'>
  stage: 'started' | 'waiting' | 'approved' | 'rejected'
  reason: string | null
  /** Until when it waits for the user; null: without end. */
  expiresAt: string | null
  /** What the user made of its arguments. */
  edit: Arguments | null
}

/** What the log says, folded event by event at constant cost. */
export interface State {
  system: EventOf<'SystemPromptEvent'> | null
  /** By tool call id; a call leaves when its one result is stored. */
  open: Map<string, OpenCall>
  callIds: Set<string>
  spent: number
  budgetWarned: boolean
  priceNoted: boolean
  modelCalls: number
  completionTokens: number
  lastUsage: Usage | null
  /** Model calls since the user last spoke or the run last ended by itself. */
  iterations: number
  /** Answers in a row that neither acted nor answered. */
  idleAnswers: number
  /** The agent's last word has been said. */
  ended: boolean
  /** The newest message of a user, the newest that asks for a run, and what the last model call had seen. */
  spoken: number
  asked: number
  seen: number
  pauseAsked: number
  interruptAsked: number
  /** The log asks for a smaller history before the next call. */
  condense: boolean
  habits: Habits
  /** Messages of the user that no model call has had yet. `checked`: the hooks let it pass. */
  prompts: { event: EventOf<'MessageEvent'>; checked: boolean }[]
  /** Nothing is under way: before the first call of the model and after an error. */
  resting: boolean
  session: 'none' | 'started' | 'ended'
  closing: Closing
}

/** What the critic and the stop hooks have said since the user last spoke. */
export interface Closing {
  /** Of the ending that the agent announced last. */
  finished: boolean
  judged: boolean
  stopsAsked: boolean
  refinements: number
  stops: number
}

const newClosing = (): Closing => ({ finished: false, judged: false, stopsAsked: false, refinements: 0, stops: 0 })

export const newState = (): State => ({
  system: null,
  open: new Map(),
  callIds: new Set(),
  spent: 0,
  budgetWarned: false,
  priceNoted: false,
  modelCalls: 0,
  completionTokens: 0,
  lastUsage: null,
  iterations: 0,
  idleAnswers: 0,
  ended: false,
  spoken: 0,
  asked: 0,
  seen: 0,
  pauseAsked: 0,
  interruptAsked: 0,
  condense: false,
  habits: newHabits(),
  prompts: [],
  resting: true,
  session: 'none',
  closing: newClosing(),
})

export function fold(state: State, event: LogEvent): void {
  foldHabits(state.habits, event)
  switch (event.kind) {
    case 'SystemPromptEvent':
      state.system ??= event
      return
    case 'MessageEvent':
      return foldMessage(state, event)
    case 'ActionEvent':
      state.callIds.add(event.tool_call_id)
      state.open.set(event.tool_call_id, { action: event, stage: 'started', ...unasked })
      state.idleAnswers = 0
      state.ended = false
      return
    case 'ObservationEvent':
      if (event.observation.kind === 'FinishObservation' && !event.observation.is_error) announce(state, true)
      state.open.delete(event.tool_call_id)
      return
    case 'UserRejectObservation':
    case 'AgentErrorEvent':
      state.open.delete(event.tool_call_id)
      return
    case 'LLMCallEvent':
      return foldCall(state, event)
    case 'ConversationStateUpdateEvent':
      return foldUpdate(state, event)
    default:
      return foldControl(state, event)
  }
}

const unasked = { reason: null, expiresAt: null, edit: null }

function foldMessage(state: State, event: EventOf<'MessageEvent'>): void {
  if (event.source === 'agent') return announce(state, false)
  if (event.source === 'hook') return
  if (event.source === 'environment') {
    state.ended = false
    state.idleAnswers += 1
    return
  }
  state.iterations = 0
  state.idleAnswers = 0
  state.spoken = event.seq
  state.prompts.push({ event, checked: false })
  state.closing = { ...newClosing(), finished: state.closing.finished, judged: true, stopsAsked: true }
  if (asksForRun(event)) state.asked = event.seq
}

/** The agent says that it is done: with a call of finish, or with words alone. */
function announce(state: State, finished: boolean): void {
  state.ended = true
  Object.assign(state.closing, { finished, judged: false, stopsAsked: false })
}

function foldCall(state: State, event: EventOf<'LLMCallEvent'>): void {
  state.spent += event.cost ?? 0
  if (event.usage_id !== mainUsage) return
  state.modelCalls += 1
  state.iterations += 1
  state.completionTokens += event.usage.completion_tokens
  state.lastUsage = event.usage
  state.seen = Math.max(state.seen, seenSeq(event))
  state.resting = false
  state.prompts = state.prompts.filter((prompt) => prompt.event.seq > state.seen)
}

function foldControl(state: State, event: LogEvent): void {
  switch (event.kind) {
    case 'PauseEvent':
      state.pauseAsked = event.seq
      state.iterations = 0
      return
    case 'InterruptEvent':
      state.interruptAsked = event.seq
      state.iterations = 0
      return
    case 'ConversationErrorEvent':
      state.resting = true
      state.iterations = 0
      state.idleAnswers = 0
      return
    case 'CondensationRequest':
      state.condense = true
      return
    case 'Condensation':
      state.condense = false
      return
    case 'NoticeEvent':
      if (event.code === 'budget_warning') state.budgetWarned = true
      if (event.code === 'price_unknown') state.priceNoted = true
      return
    default:
  }
}

function foldUpdate(state: State, event: EventOf<'ConversationStateUpdateEvent'>): void {
  const { closing } = state
  switch (event.key) {
    case criticKey:
      closing.judged = true
      if ((event.value as { refined?: unknown } | null)?.refined === true) closing.refinements += 1
      return
    case stopHooksKey:
      closing.stopsAsked = true
      if ((event.value as { blocked?: unknown } | null)?.blocked === true) closing.stops += 1
      return
    case sessionKey:
      state.session = event.value === 'started' ? 'started' : 'ended'
      return
    case checkedMessagesKey:
      for (const prompt of state.prompts)
        if (Array.isArray(event.value) && event.value.includes(prompt.event.id)) prompt.checked = true
      return
    case blockedMessagesKey:
      return foldBlocked(state, blockedMessages(event))
    default:
      return foldConfirmation(state, event)
  }
}

/** As if they had not been said. When nothing else is under way, the run is at its end. */
function foldBlocked(state: State, ids: readonly string[]): void {
  state.prompts = state.prompts.filter(({ event }) => !ids.includes(event.id))
  const left = state.prompts.map(({ event }) => event)
  state.spoken = Math.max(state.seen, left.at(-1)?.seq ?? 0)
  state.asked = Math.min(state.asked, state.spoken)
  if (left.length === 0 && state.resting) state.ended = true
}

function foldConfirmation(state: State, event: EventOf<'ConversationStateUpdateEvent'>): void {
  if (event.key === 'confirmation') {
    const answer = readConfirmation(event)
    if (answer === null) return
    for (const call of chosen(state, answer.action_ids)) {
      if (call.stage !== 'waiting') continue
      const late = call.expiresAt !== null && event.timestamp > call.expiresAt
      call.stage = answer.decision === 'accept' && !late ? 'approved' : 'rejected'
      call.reason = late ? expiredReason : answer.reason
      call.edit = answer.edits?.[call.action.id] ?? null
    }
  } else if (event.key === 'confirmation_requested') {
    for (const call of chosen(state, namedActions(event))) {
      call.stage = 'waiting'
      call.expiresAt = expiryOf(event)
    }
  } else if (event.key === 'confirmation_started') {
    for (const call of chosen(state, namedActions(event))) call.stage = 'started'
  }
}

function chosen(state: State, ids: string[] | null): OpenCall[] {
  const calls = [...state.open.values()]
  return ids === null ? calls : calls.filter((call) => ids.includes(call.action.id))
}

/** Whether somebody asked for a run that no model call has taken up yet. */
export const owed = (state: State): boolean => state.asked > state.seen

export const inStage = (state: State, stage: OpenCall['stage']): OpenCall[] =>
  [...state.open.values()].filter((call) => call.stage === stage)
