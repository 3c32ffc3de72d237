import type { Content, NewEvent, RiskVerdict, ToolCall } from '@parley/contract/events'
import { assess } from '../security/assess.ts'
import { propose, type Proposal } from '../tools/arguments.ts'
import { textContent } from '../tools/observation.ts'
import type { Answer } from './answer.ts'
import type { Ready } from './batch.ts'
import { confirmationRequested } from './confirm.ts'
import { note, type EventOf, type NewOf } from './events.ts'
import { RunFailed } from './failure.ts'
import type { Called } from './retry.ts'
import type { Work } from './work.ts'

/** Answers in a row that neither act nor answer, before the run ends. */
const idleAnswers = 3

/**
 * Stores an answer: the call's account and what the answer led to in one append, so that after a crash there is all of it
 * or nothing. Gives the calls to execute now: none after a text, and none when the user is asked first.
 */
export async function record(work: Work, called: Called, signal: AbortSignal): Promise<Ready[]> {
  const { journal } = work
  const { answer, event } = called
  if (answer.calls.length > 0) return recordCalls(work, called, signal)
  if (answer.reason === 'refusal') {
    journal.write(event, ...nudged(work, refusedNote, 'ContentPolicyRefusal', 'The LLM provider refuses to answer.'))
  } else if (answer.text.trim() === '') {
    const thoughts = answer.reasoning === '' ? [] : [message(called)]
    const detail = 'The model answered several times in a row without a word or an action.'
    journal.write(event, ...thoughts, ...nudged(work, emptyNote, 'EmptyAnswers', detail))
  } else if (answer.reason === 'length' && journal.state.idleAnswers < idleAnswers) {
    journal.write(event, message(called), note(cutNote))
  } else journal.write(event, message(called))
  return []
}

const refusedNote = 'The provider refused the last answer. Go on with the task in another way, or call finish.'
const emptyNote = 'Your last answer was empty. Act with a tool, or call finish if the task is done.'
const cutNote = 'Your last answer was cut at the output limit. Go on where it stopped.'

function nudged({ journal }: Work, text: string, code: string, detail: string): NewEvent[] {
  if (journal.state.idleAnswers >= idleAnswers) throw new RunFailed(code, detail, 'unknown')
  return [note(text)]
}

const message = ({ answer, responseId }: Called): NewOf<'MessageEvent'> => ({
  kind: 'MessageEvent',
  source: 'agent',
  llm_message: {
    role: 'assistant',
    content: answer.text === '' ? [] : [textContent(answer.text)],
    ...reasoning(answer),
  },
  llm_response_id: responseId,
})

const reasoning = ({ reasoning: text, blocks }: Answer) => ({
  ...(text === '' ? {} : { reasoning_content: text }),
  ...(blocks.length === 0 ? {} : { thinking_blocks: blocks }),
})

async function recordCalls(work: Work, called: Called, signal: AbortSignal): Promise<Ready[]> {
  const { journal, clock } = work
  const { answer, responseId, event } = called
  const proposals = proposalsOf(work, answer)
  const verdicts = await verdictsOf(work, proposals, signal)
  const actions = proposals.map((proposal, at) => ({
    ...actionEvent(proposal, clock.id(), responseId, at === 0 ? answer : null),
    ...judged(proposal, verdicts.get(proposal)),
  }))
  const asked = needsConfirmation(work, verdicts)
  const expiresAt = new Date(clock.millis() + work.policy.confirmationMs).toISOString()
  const ids = actions.map((action) => action.id)
  const request = asked ? [confirmationRequested(ids, expiresAt)] : []
  const stored = await journal.commit(event, ...actions, ...request)
  if (asked) return []
  const kept = stored.filter((one): one is EventOf<'ActionEvent'> => one.kind === 'ActionEvent')
  return kept.flatMap((action, at) => {
    const proposal = proposals[at]
    return proposal === undefined ? [] : [{ action, proposal }]
  })
}

/** The calls with ids of their own; those after a finish are dropped, for nothing may happen after the end. */
function proposalsOf({ journal, tools, clock }: Work, { calls, reason }: Answer): Proposal[] {
  const taken = new Set<string>()
  const proposals: Proposal[] = []
  for (const [at, call] of calls.entries()) {
    const used = call.id === '' || taken.has(call.id) || journal.state.callIds.has(call.id)
    const id = used ? `call_${clock.id().replaceAll('-', '')}` : call.id
    taken.add(id)
    const proposal = propose({ ...call, id }, tools, reason === 'length' && at === calls.length - 1)
    proposals.push(proposal)
    if (proposal.error === null && proposal.tool.name === 'finish') break
  }
  return proposals
}

/** `first`: the answer, for the first call of it; thought and reasoning are told once. */
function actionEvent(proposal: Proposal, id: string, responseId: string, first: Answer | null) {
  const thought: Content[] = first === null || first.text === '' ? [] : [textContent(first.text)]
  const action = proposal.error === null ? { ...proposal.input, kind: proposal.tool.actionKind } : null
  return {
    kind: 'ActionEvent' as const,
    source: 'agent' as const,
    id,
    thought,
    ...(first === null ? {} : reasoning(first)),
    action,
    tool_name: proposal.call.name,
    tool_call_id: proposal.call.id,
    tool_call: proposal.call satisfies ToolCall,
    llm_response_id: responseId,
    summary: proposal.summary,
  }
}

type Executable = Extract<Proposal, { error: null }>
type Verdicts = ReadonlyMap<Proposal, RiskVerdict>

/** How risky each executable call is, all of them judged before anything is published. */
async function verdictsOf(work: Work, proposals: Proposal[], signal: AbortSignal): Promise<Verdicts> {
  const executable = proposals.filter((one): one is Executable => one.error === null)
  const actions = executable.map(({ tool, input, call, risk }) => ({
    toolName: tool.name,
    readOnly: tool.readOnly,
    input,
    call,
    claim: risk,
    own: tool.risk?.(input) ?? null,
  }))
  const { analyzer, clock, journal } = work
  const found = await assess(actions, { analyzer, clock, history: journal.log.events }, signal)
  return new Map(executable.map((one, at) => [one, found[at] ?? unjudged]))
}

const unjudged: RiskVerdict = { level: 'UNKNOWN', source: 'nobody', score: null, latency_ms: 0, reason: null }

const judged = (proposal: Proposal, verdict: RiskVerdict | undefined) =>
  verdict === undefined
    ? { security_risk: proposal.risk }
    : { security_risk: verdict.level, ...(verdict.source === 'nobody' ? {} : { risk: verdict }) }

/** Harmless calls alone are never asked about; one call that must be asked about makes the whole batch wait. */
function needsConfirmation({ policy }: Work, verdicts: Verdicts): boolean {
  const executable = [...verdicts].filter((one): one is [Executable, RiskVerdict] => one[0].error === null)
  if (executable.every(([{ tool }]) => tool.harmless === true)) return false
  return executable.some(([{ tool, input, call }, { level }]) => {
    const planned = { toolName: tool.name, readOnly: tool.readOnly, input, call, risk: level }
    return tool.harmless !== true && policy.confirmation(planned) === 'ask'
  })
}
