import type { Critic, Verdict } from './critic.ts'

const good: Verdict = { score: 1, message: null }
const bad = (message: string): Verdict => ({ score: 0, message })

/** Satisfied with everything. */
export const passCritic: Critic = { kind: 'PassCritic', judge: () => Promise.resolve(good) }

/** Satisfied when anything was changed. */
export const emptyPatchCritic: Critic = {
  kind: 'EmptyPatchCritic',
  judge: async (scene, signal) => ((await scene.patch(signal)) === '' ? bad('Nothing was changed.') : good),
}

/** Satisfied when something was changed and the agent called finish. */
export const agentFinishedCritic: Critic = {
  kind: 'AgentFinishedCritic',
  async judge(scene, signal) {
    const missing = [
      ...((await scene.patch(signal)) === '' ? ['Nothing was changed.'] : []),
      ...(scene.finished ? [] : ['The work did not end with a call of finish.']),
    ]
    return missing.length === 0 ? good : bad(missing.join(' '))
  },
}
