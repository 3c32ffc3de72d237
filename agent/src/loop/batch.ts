import type { NewEvent } from '@parley/contract/events'
import { SandboxGone, type Hands } from '@parley/sandbox/driver'
import type { Proposal } from '../tools/arguments.ts'
import { textContent } from '../tools/observation.ts'
import type { CallContext } from '../tools/tool.ts'
import type { Arguments } from './confirm.ts'
import { agentError, blockedActionsKey, hookNote, stateUpdate, type EventOf } from './events.ts'
import { RunFailed } from './failure.ts'
import { charged } from './limits.ts'
import { liveOutput } from './live.ts'
import { Interrupted, over, PauseRequested } from './stop.ts'
import type { Work } from './work.ts'

/** A call whose action is durable. */
export interface Ready {
  action: EventOf<'ActionEvent'>
  proposal: Proposal
  /** The arguments that the user put in the place of the model's. */
  edit?: Arguments
}

/** What the calls of one batch have in common while they run. */
interface Batch {
  signal: AbortSignal
  failures: RunFailed[]
  /** What was spent for each call, to be stored with its result. */
  charges: Map<Ready, NewEvent[]>
  /** A call was left open by a pause: those after it do not begin. */
  paused: boolean
}

const graceMs = 2_000

/** In the place of a result: the run was paused, and the call stays open for the next run to take it up. */
const leftOpen = Symbol('left open')
type Result = NewEvent | typeof leftOpen

/** A tool that says it needs no sandbox never looks at this. */
const noHands = {} as Hands

/**
 * Executes calls side by side as far as their resources and `toolConcurrency` allow, and stores exactly one result each, in
 * the order of the calls, each as soon as it and all before it are there. An interrupt gives running tools 2 s to answer.
 */
export async function execute(work: Work, calls: Ready[], signal: AbortSignal): Promise<void> {
  const batch: Batch = { signal, failures: [], charges: new Map(), paused: false }
  const results = schedule(calls, work.policy.toolConcurrency, (call) => resultOf(work, call, batch))
  const done: NewEvent[] = []
  for (const [at, call] of calls.entries()) {
    const result = await results[at]
    if (signal.aborted && !(signal.reason instanceof Interrupted)) throw signal.reason
    if (result === undefined || result === leftOpen || !work.journal.state.open.has(call.action.tool_call_id)) continue
    // As it is kept: with what is secret hidden, for hooks may tell a model.
    done.push(...work.journal.write(...(batch.charges.get(call) ?? []), result).slice(-1))
  }
  await afterwards(work, calls, done, signal)
  if (batch.failures[0] !== undefined) throw batch.failures[0]
  if (signal.aborted) throw signal.reason
}

/** First come, first served: a call waits for the earlier ones that share a resource, then for a free place. */
function schedule(calls: Ready[], places: number, run: (call: Ready) => Promise<Result>): Promise<Result>[] {
  const holders = new Map<string, Promise<unknown>>()
  const queue: (() => void)[] = []
  let free = Math.max(1, places)
  const place = () => {
    if (free > 0) {
      free -= 1
      return Promise.resolve()
    }
    return new Promise<void>((resolve) => queue.push(resolve))
  }
  const leave = () => {
    const next = queue.shift()
    if (next === undefined) free += 1
    else next()
  }
  return calls.map((call) => {
    const keys = call.proposal.error === null ? call.proposal.tool.resources(call.proposal.input) : []
    const before = Promise.all(keys.map((key) => holders.get(key)))
    const result = before.then(place).then(() => run(call).finally(leave))
    for (const key of keys) holders.set(key, result)
    return result
  })
}

/** Never rejects: whatever happens becomes the call's one result. Only a run that is handed back stores none. */
async function resultOf(work: Work, call: Ready, batch: Batch): Promise<Result> {
  const { proposal, action } = call
  const { signal, failures } = batch
  if (proposal.error !== null) return agentError(action, proposal.error, 'agent_action')
  if (signal.aborted) return agentError(action, 'The user interrupted the run before this action started.', 'unknown')
  if (batch.paused) return agentError(action, 'Not executed: the run was paused before this action started.', 'unknown')
  if (failures.length > 0) return agentError(action, 'Not executed: there is no sandbox.', 'internal')
  let hands: Hands
  try {
    hands = proposal.tool.handless === true ? noHands : await work.hands.get(signal)
  } catch (error) {
    if (signal.aborted) return agentError(action, 'The user interrupted the run before this action started.', 'unknown')
    const cause = error instanceof Error ? error.message : String(error)
    failures.push(
      new RunFailed('SandboxUnavailable', `The sandbox cannot be used: ${cause}`, 'internal', { cause: error }),
    )
    return agentError(action, `Not executed: the sandbox cannot be used (${cause}).`, 'internal')
  }
  return (await refused(work, call, signal)) ?? perform(work, call, hands, batch)
}

/** The result of a call that a hook does not let through; null: it may be executed. */
async function refused({ hooks, journal }: Work, { action, proposal }: Ready, signal: AbortSignal) {
  if (!hooks?.has('pre_tool_use') || proposal.error !== null) return null
  const { tool_name, tool_call_id, id: action_id } = action
  const facts = { toolName: tool_name, toolInput: proposal.input, actionId: action_id }
  const { blocked } = await hooks.fire('pre_tool_use', facts, signal)
  if (signal.aborted) return agentError(action, 'The user interrupted the run before this action started.', 'unknown')
  if (blocked === null) return null
  journal.write(stateUpdate(blockedActionsKey, { [action_id]: blocked }))
  const names = { tool_name, tool_call_id, action_id }
  const rejection = { rejection_reason: blocked, rejection_source: 'hook' as const }
  return { kind: 'UserRejectObservation' as const, source: 'environment' as const, ...names, ...rejection }
}

/** Hooks that hear of results; what they add for the model stands after all of them. */
async function afterwards({ hooks, journal }: Work, calls: Ready[], done: NewEvent[], signal: AbortSignal) {
  if (!hooks?.has('post_tool_use')) return
  const context: string[] = []
  for (const result of done) {
    if (result.kind !== 'ObservationEvent' || signal.aborted) continue
    const input = calls.find(({ action }) => action.id === result.action_id)?.proposal.input ?? {}
    const names = { toolName: result.tool_name, actionId: result.action_id }
    const fired = await hooks.fire(
      'post_tool_use',
      { ...names, toolInput: input, toolResponse: result.observation },
      signal,
    )
    context.push(...fired.context)
  }
  if (context.length > 0) journal.write(hookNote(context))
}

async function perform(work: Work, call: Ready, hands: Hands, batch: Batch): Promise<Result> {
  const { action, proposal, edit } = call
  const { tool, input } = proposal as Extract<Proposal, { error: null }>
  const signal = tool.resumes === true ? AbortSignal.any([batch.signal, work.pause.signal]) : batch.signal
  const { journal, clock } = work
  const names = { tool_call_id: action.tool_call_id, action_id: action.id }
  const live = liveOutput(journal.log, clock, names)
  try {
    const context = {
      hands,
      workingDir: work.workingDir,
      signal,
      onOutput: live.push,
      secretsFor: (text: string) => work.secrets.valuesFor(text),
      memory: memoryOf(work, tool.name),
      call: callContext(work, call, batch),
    }
    const observation = await withGrace(tool.run(input, context), signal, work)
    live.end()
    const told = edit === undefined ? {} : { extended_content: [textContent(editedNote(edit))] }
    return { kind: 'ObservationEvent', source: 'environment', tool_name: tool.name, ...names, observation, ...told }
  } catch (error) {
    live.end()
    if (signal.reason instanceof PauseRequested) {
      batch.paused = true
      return leftOpen
    }
    if (error instanceof SandboxGone) work.hands.lost()
    const cause = error instanceof Error ? error.message : String(error)
    if (signal.aborted) return agentError(action, `The user interrupted this action. ${outcomeUnknown}`, 'unknown')
    if (error instanceof SandboxGone)
      return agentError(action, `The sandbox ended: ${cause}. ${outcomeUnknown}`, 'internal')
    return agentError(action, `The tool failed: ${cause}`, 'internal')
  }
}

function callContext({ journal, policy }: Work, call: Ready, { charges }: Batch): CallContext {
  return {
    id: call.action.id,
    budgetLeft: () => (policy.maxBudget === null ? null : Math.max(0, policy.maxBudget - journal.state.spent)),
    charge: (spent) => void charges.set(call, [...(charges.get(call) ?? []), charged(spent)]),
    notice: (code, detail) =>
      void journal.write({ kind: 'NoticeEvent', source: 'environment', code, detail, level: 'info' }),
  }
}

const editedNote = (edit: Arguments) =>
  `The user changed the arguments of this call before it was executed, to: ${JSON.stringify(edit)}`

export const outcomeUnknown = 'Whether it took effect is unknown; check before repeating it.'

/** As the promise; after an abort it has 2 s left when the user interrupted, none when the run is handed back. */
function withGrace<T>(promise: Promise<T>, signal: AbortSignal, { clock }: Work): Promise<T> {
  const answered = new AbortController()
  return new Promise<T>((resolve, reject) => {
    const stop = () => {
      if (!(signal.reason instanceof Interrupted)) return reject(signal.reason)
      clock.sleep(graceMs, answered.signal).then(
        () => reject(signal.reason),
        () => {},
      )
    }
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', stop)
      answered.abort(over)
    })
  })
}

export function memoryOf(work: Pick<Work, 'memory'>, tool: string): Map<string, unknown> {
  const known = work.memory.get(tool)
  if (known !== undefined) return known
  const fresh = new Map<string, unknown>()
  work.memory.set(tool, fresh)
  return fresh
}
