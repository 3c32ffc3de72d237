import type { NewEvent } from '@parley/contract/events'
import { llmSummarizingCondenser } from '../condense/llm-summarizing.ts'
import { openHooks } from '../hooks/hooks.ts'
import { Fenced } from '../log.ts'
import type { Tool } from '../tools/tool.ts'
import { toolset } from '../tools/toolset.ts'
import { memoryOf, outcomeUnknown } from './batch.ts'
import { mayEnd } from './closing.ts'
import { expiredReason } from './confirm.ts'
import { agentError, type NewOf } from './events.ts'
import { failureEvent } from './failure.ts'
import { openJournal } from './journal.ts'
import { judgeOf } from './judge.ts'
import { closeSession, openSession } from './session.ts'
import { inStage, type OpenCall, owed } from './state.ts'
import { Interrupted, PauseRequested } from './stop.ts'
import { executeApproved, turn } from './turn.ts'
import type { RunOptions, ToolMemory, Work } from './work.ts'

export interface Outcome {
  status: 'finished' | 'paused' | 'waiting_for_confirmation' | 'error' | 'stuck' | 'idle'
  /** Of an error or the rule of `stuck`: stable and readable by programs. */
  code?: string
  detail?: string
  /** This run has taken notice of everything up to here; a later message asks for another run. */
  seenSeq: number
}

type Ending = Omit<Outcome, 'seenSeq'>

/**
 * Runs a conversation until there is nothing left to do, and everything said about it is durable. Rejects only when the run
 * is handed back (with the signal's reason or `Fenced`) or the log itself fails; the next worker goes on from the log.
 */
export async function run(options: RunOptions): Promise<Outcome> {
  const work = prepare(options)
  try {
    const ending = await drive(work).catch((error: unknown) => afterError(work, error))
    if (rests.has(ending.status)) await closeSession(work, ending.status)
    await work.journal.log.flush()
    return { ...ending, seenSeq: options.log.readSeq }
  } finally {
    if (options.memory === undefined) await closeTools(options.tools, work.memory)
  }
}

/** Frees what the tools keep between runs: shells and the like. */
export async function closeTools(tools: readonly Tool[], memory: ToolMemory): Promise<void> {
  for (const tool of tools) {
    const kept = memory.get(tool.name)
    if (kept !== undefined) await tool.close?.(kept)
  }
  memory.clear()
}

/** Ends of a run at which the session of the conversation ends too. */
const rests: ReadonlySet<Ending['status']> = new Set(['finished', 'error', 'stuck'])

async function drive(work: Work): Promise<Ending> {
  const { journal, signal } = work
  recall(work)
  const resumed = inStage(journal.state, 'started').filter(({ action }) => work.tools.find(action.tool_name)?.resumes)
  closeStarted(work, `The run was interrupted while this action was under way. ${outcomeUnknown}`, resumed)
  await journal.drain()
  if (resumed.length > 0) await executeApproved(work, resumed)
  // Whoever starts a run wants every message answered, also those that were only to be kept.
  journal.state.asked = Math.max(journal.state.asked, journal.state.spoken)
  for (;;) {
    if (signal.aborted && !(signal.reason instanceof PauseRequested)) throw signal.reason
    const ending = endingNow(work)
    if (ending?.status === 'finished' && !(await mayEnd(work))) continue
    if (ending !== null) return ending
    await openSession(work)
    const approved = inStage(journal.state, 'approved')
    if (approved.length > 0) await executeApproved(work, approved)
    else {
      const stuck = await turn(work)
      const detail = stuck && `The agent repeats itself; see events ${stuck.evidence_seqs.join(', ')}.`
      if (stuck !== null) return { status: 'stuck', code: stuck.rule, ...(detail === null ? {} : { detail }) }
    }
    await journal.drain()
  }
}

/** What the log alone says about going on. */
function endingNow(work: Work): Ending | null {
  const { state } = work.journal
  if (state.interruptAsked > work.sinceSeq) throw new Interrupted('The user interrupted the run.')
  if (state.pauseAsked > work.sinceSeq || work.signal.reason instanceof PauseRequested) return { status: 'paused' }
  expire(work)
  const rejected = closeRejected(work)
  if (inStage(state, 'approved').length > 0) return null
  if (inStage(state, 'waiting').length > 0) return { status: 'waiting_for_confirmation' }
  if (owed(state)) return null
  if (rejected) return { status: 'idle' }
  if (state.ended) return { status: 'finished' }
  return state.spoken === 0 ? { status: 'idle' } : null
}

/** What the user was asked about for too long is answered by time: no. */
function expire({ journal, clock }: Work): void {
  const now = clock.now()
  for (const call of inStage(journal.state, 'waiting')) {
    if (call.expiresAt === null || call.expiresAt > now) continue
    call.stage = 'rejected'
    call.reason = expiredReason
  }
}

function closeRejected({ journal }: Work): boolean {
  const rejected = inStage(journal.state, 'rejected')
  for (const { action, reason } of rejected) {
    journal.write({
      kind: 'UserRejectObservation',
      source: 'environment',
      tool_name: action.tool_name,
      tool_call_id: action.tool_call_id,
      action_id: action.id,
      rejection_reason: reason ?? 'User rejected the action',
      rejection_source: 'user',
    })
  }
  return rejected.length > 0
}

/** One result for every action that may have been executed and has none. It is never executed by us again. */
function closeStarted({ journal }: Work, text: string, but: readonly OpenCall[] = []): void {
  for (const call of inStage(journal.state, 'started'))
    if (!but.includes(call)) journal.write(agentError(call.action, text, 'unknown'))
}

async function afterError(work: Work, error: unknown): Promise<Ending> {
  const { journal, signal, sinceSeq } = work
  if (error instanceof Fenced) throw error
  if (error instanceof Interrupted) {
    await journal.drain()
    closeStarted(work, `The user interrupted this action. ${outcomeUnknown}`)
    for (const { action } of journal.state.open.values())
      journal.write(agentError(action, 'The user interrupted the run; this action was not executed.', 'unknown'))
    if (journal.state.interruptAsked <= sinceSeq) journal.write({ kind: 'InterruptEvent', source: 'user' })
    return { status: 'paused' }
  }
  if (signal.aborted && !(signal.reason instanceof PauseRequested)) throw signal.reason
  closeStarted(work, `The run failed while this action was under way. ${outcomeUnknown}`)
  const event: NewOf<'ConversationErrorEvent'> = failureEvent(error)
  journal.write(event)
  return { status: 'error', code: event.code, detail: event.detail }
}

function prepare(options: RunOptions): Work {
  const { log, model, policy } = options
  const journal = openJournal(log, model.vision)
  const spentBeside = options.spentBeside ?? 0
  journal.state.spent += spentBeside
  const tools = toolset(options.tools, policy)
  const hands = handsOf(options)
  const work: Work = {
    ...options,
    journal,
    tools,
    toolCharacters: JSON.stringify(tools.definitions).length,
    hands,
    memory: options.memory ?? new Map(),
    condenser: options.condenser ?? llmSummarizingCondenser(),
    analyzer: options.analyzer ?? null,
    critic: options.critic ?? null,
    fallbacks: options.fallbacks ?? [],
    logCompletions: options.logCompletions ?? null,
    way: options.way ?? noWay,
    mask: options.mask ?? ((text) => text),
    baseCommit: options.baseCommit ?? null,
    hooks: null,
    pause: new AbortController(),
    quietUpTo: { tokens: 0, events: 0 },
    random: options.random ?? Math.random,
    spentBeside,
    sinceSeq: options.sinceSeq ?? log.events.at(-1)?.seq ?? 0,
  }
  work.hooks = hooksOf(options, work)
  return work
}

const noWay: typeof fetch = () => Promise.reject(new Error('Services outside cannot be reached from here.'))

function hooksOf({ hooks, cacheKey, workingDir, clock }: RunOptions, work: Work) {
  if (!hooks) return null
  const write = (event: NewEvent) => void work.journal.write(event)
  const judge = judgeOf(work)
  return openHooks({ config: hooks, hands: work.hands.get, conversation: cacheKey, workingDir, clock, write, judge })
}

function handsOf({ hands }: RunOptions): Work['hands'] {
  let held: ReturnType<RunOptions['hands']> | null = null
  return {
    get(signal) {
      held ??= hands(signal)
      held.catch(() => (held = null))
      return held
    },
    lost: () => (held = null),
    atHand: () => held,
  }
}

/** Gives the tools back what the log says they knew. Memory that the caller kept is newer and stays. */
function recall({ journal, tools, memory }: Work): void {
  const fresh = tools.tools.filter((tool) => tool.recall !== undefined && !memory.has(tool.name))
  if (fresh.length === 0) return
  const byName = new Map(fresh.map((tool) => [tool.name, tool]))
  for (const event of journal.log.events) {
    if (event.kind !== 'ObservationEvent') continue
    const tool = byName.get(event.tool_name)
    if (tool !== undefined) tool.recall?.(event.observation, memoryOf({ memory }, tool.name))
  }
}
