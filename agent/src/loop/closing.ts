import { critics, refinementOf } from '../critic/critics.ts'
import { sceneIn } from '../critic/scene.ts'
import { criticKey, note, stateUpdate, stopHooksKey } from './events.ts'
import { step } from './step.ts'
import type { Work } from './work.ts'

/* What stands between an agent that says it is done and the end of the run: a critic, then the stop hooks. */

/** Stop hooks that sent the agent back so often in a row are no longer heard in this turn of the user. */
const mostStops = 3

/** False: the agent was told to go on. Each is asked once for one ending, also after a crash. */
export async function mayEnd(work: Work): Promise<boolean> {
  const { closing } = work.journal.state
  if (work.critic !== null && !closing.judged && !(await satisfied(work))) return false
  return !work.hooks?.has('stop') || closing.stopsAsked || (await stopAllowed(work))
}

export interface CriticResult {
  kind: string
  /** Null: it could not judge. */
  score: number | null
  message: string | null
  success: boolean
  /** Counts from 1 in each turn of the user. */
  attempt: number
  /** The agent was sent back to work. */
  refined: boolean
}

async function satisfied(work: Work): Promise<boolean> {
  const { journal, critic: config } = work
  if (config === null) return true
  const { refinements, finished } = journal.state.closing
  const critic = critics[config.kind](config)
  const scene = sceneIn({ ...work, hands: work.hands.get, finished })
  const verdict = await step(work, async (signal) => {
    try {
      return await critic.judge(scene, signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      return { score: null, message: `It could not judge: ${error instanceof Error ? error.message : String(error)}` }
    }
  })
  const refinement = refinementOf(config)
  const low = refinement !== null && verdict.score !== null && verdict.score < refinement.threshold
  const refined = low && finished && refinements < refinement.most
  const success = (verdict.score ?? 0) >= 0.5
  const result: CriticResult = { kind: critic.kind, ...verdict, success, attempt: refinements + 1, refined }
  const words = refined ? [note(complaint(verdict.message))] : []
  journal.write(stateUpdate(criticKey, result), ...words)
  return !refined
}

const complaint = (message: string | null): string =>
  `Your work was looked at, and is not done yet: ${message ?? 'it was judged too low.'}\nGo on until that is mended, then call finish again.`

async function stopAllowed(work: Work): Promise<boolean> {
  const { journal, hooks } = work
  if (hooks === null) return true
  const { stops } = journal.state.closing
  const facts = { stopHookActive: stops > 0 }
  const fired = await step(work, (signal) => hooks.fire('stop', facts, signal))
  const blocked = fired.blocked !== null && stops < mostStops
  const words = blocked ? [note([`You are not done yet: ${fired.blocked}`, ...fired.context].join('\n'))] : []
  journal.write(stateUpdate(stopHooksKey, { blocked, reason: fired.blocked, round: stops + 1 }), ...words)
  return !blocked
}
