import { systemPrompt } from '../prompts/system.ts'
import { propose } from '../tools/arguments.ts'
import { execute } from './batch.ts'
import { callModel } from './call.ts'
import { judgeActions } from './closing.ts'
import { confirmationStarted } from './confirm.ts'
import { note, type NewOf } from './events.ts'
import { checkLimits } from './limits.ts'
import { submitPrompts } from './prompts.ts'
import { record } from './record.ts'
import { keepSmall } from './shrink.ts'
import { owed, type OpenCall } from './state.ts'
import { step } from './step.ts'
import { nudgeText, stuckKey, suspicion, type Suspicion } from './stuck.ts'
import type { Work } from './work.ts'

/** One turn: ask the model, store its answer, do what it says. Null: go on. */
export async function turn(work: Work): Promise<Suspicion | null> {
  const stuck = checkStuck(work)
  if (stuck !== null) return stuck
  checkLimits(work)
  await submitPrompts(work)
  if (saysNothing(work)) return null
  beginPrompt(work)
  await keepSmall(work)
  await submitPrompts(work) // of what came while the history was condensed
  const called = await step(work, (signal) => callModel(work, signal))
  const calls =
    work.analyzer?.outside === true
      ? await step(work, (signal) => record(work, called, signal))
      : await record(work, called, work.signal)
  if (calls.length === 0) return null
  await step(work, (signal) => execute(work, calls, signal))
  await judgeActions(work)
  return null
}

/** Everything that was asked for was refused by a hook. */
const saysNothing = ({ journal, hooks }: Work): boolean => hooks !== null && !owed(journal.state) && journal.state.ended

/** Executes what the user has approved. It is marked as started first: after a crash it is not executed again. */
export async function executeApproved(work: Work, approved: OpenCall[]): Promise<void> {
  const { journal, tools } = work
  await journal.commit(confirmationStarted(approved.map((call) => call.action.id)))
  const calls = approved.map(({ action, edit }) => {
    const call = edit === null ? action.tool_call : { ...action.tool_call, arguments: JSON.stringify(edit) }
    return { action, proposal: propose(call, tools), ...(edit === null ? {} : { edit }) }
  })
  await step(work, (signal) => execute(work, calls, signal))
}

/** The system prompt is made once and stays in the log: later turns and workers send the very same bytes. */
function beginPrompt(work: Work): void {
  if (work.journal.state.system !== null) return
  work.journal.write(systemPrompt(work))
}

function checkStuck({ journal, policy }: Work): Suspicion | null {
  if (!policy.stuckDetection) return null
  const found = suspicion(journal.state.habits)
  if (found === null) return null
  const told: NewOf<'ConversationStateUpdateEvent'> = {
    kind: 'ConversationStateUpdateEvent',
    source: 'environment',
    key: stuckKey,
    value: found,
  }
  if (found.level === 3) {
    journal.write(told)
    return found
  }
  journal.write(told, note(nudgeText(found)))
  return null
}
