import type { Critic } from '@parley/contract/agent-config'
import type { Verdict } from '../critic/critic.ts'
import { openCritic, refinementOf } from '../critic/critics.ts'
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
  metadata?: Record<string, unknown>
}

async function satisfied(work: Work): Promise<boolean> {
  const { journal, critic: config } = work
  if (config === null) return true
  const { refinements, finished } = journal.state.closing
  const verdict = await judged(work, config)
  const refinement = refinementOf(config)
  const low = refinement !== null && verdict.score !== null && verdict.score < refinement.threshold
  const refined = low && finished && refinements < refinement.most
  const words = refined ? [note(complaint(verdict.message))] : []
  journal.write(resultEvent(config, verdict, { attempt: refinements + 1, refined }), ...words)
  return !refined
}

/** A critic that judges every action is heard after each answer that acts; it only tells. */
export async function judgeActions(work: Work): Promise<void> {
  const { journal, critic: config } = work
  if (config?.mode !== 'all_actions' || journal.state.ended) return
  const verdict = await judged(work, config)
  journal.write(resultEvent(config, verdict, { attempt: journal.state.closing.refinements + 1, refined: false }))
}

type Judged = Omit<Verdict, 'score'> & Pick<CriticResult, 'score'>

const judged = (work: Work, config: Critic): Promise<Judged> =>
  step(work, async (signal) => {
    const { finished } = work.journal.state.closing
    const scene = sceneIn({ ...work, hands: work.hands.get, finished, history: work.journal.log.events })
    try {
      return await openCritic(config, work.way).judge(scene, signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      return { score: null, message: `It could not judge: ${error instanceof Error ? error.message : String(error)}` }
    }
  })

const resultEvent = ({ kind }: Critic, verdict: Judged, facts: Pick<CriticResult, 'attempt' | 'refined'>) =>
  stateUpdate(criticKey, { kind, ...verdict, success: (verdict.score ?? 0) >= 0.5, ...facts } satisfies CriticResult)

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
