import { hookNote, sessionKey, stateUpdate } from './events.ts'
import { step } from './step.ts'
import { Interrupted } from './stop.ts'
import type { Work } from './work.ts'

/*
 * A session is the time from the first step after a rest to the next rest (finished, error or stuck). It outlives a pause, a
 * confirmation and a worker that dies, for the log says that it is open.
 */

const kept = ({ hooks }: Work): boolean => hooks !== null && (hooks.has('session_start') || hooks.has('session_end'))

export async function openSession(work: Work): Promise<void> {
  const { journal, hooks } = work
  if (hooks === null || !kept(work) || journal.state.session === 'started') return
  const facts = { metadata: { resumed: journal.state.session === 'ended' } }
  journal.write(stateUpdate(sessionKey, 'started'))
  const { context } = await step(work, (signal) => hooks.fire('session_start', facts, signal))
  if (context.length > 0) journal.write(hookNote(context))
}

/** Never rejects because of a hook; an interrupt ends it. */
export async function closeSession(work: Work, status: string): Promise<void> {
  const { journal, hooks } = work
  if (hooks === null || !kept(work) || journal.state.session !== 'started') return
  journal.write(stateUpdate(sessionKey, 'ended'))
  try {
    await step(work, (signal) => hooks.fire('session_end', { metadata: { status } }, signal))
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
  }
}
