import type { Critic as CriticConfig } from '@parley/contract/agent-config'
import { apiBasedCritic } from './api-critic.ts'
import { commandCritic } from './command-critic.ts'
import type { Critic } from './critic.ts'
import { agentFinishedCritic, emptyPatchCritic, passCritic } from './patch-critics.ts'

type Of<K extends CriticConfig['kind']> = Extract<CriticConfig, { kind: K }>

/** The family. `way` leads to services outside. */
const critics: { readonly [K in CriticConfig['kind']]: (config: Of<K>, way: typeof fetch) => Critic } = {
  AgentFinishedCritic: () => agentFinishedCritic,
  EmptyPatchCritic: () => emptyPatchCritic,
  PassCritic: () => passCritic,
  CommandCritic: ({ command, timeout }) => commandCritic({ command, timeoutMs: timeout * 1000 }),
  APIBasedCritic: (
    { api_url: url, api_key: key = null, model = null, issue_threshold: issueThreshold, timeout },
    way,
  ) => apiBasedCritic({ url, key, model, issueThreshold, timeoutMs: timeout * 1000 }, way),
}

export const criticKinds = Object.keys(critics) as CriticConfig['kind'][]

export const openCritic = <K extends CriticConfig['kind']>(config: Of<K> & { kind: K }, way: typeof fetch): Critic =>
  critics[config.kind](config, way)

export interface Refinement {
  threshold: number
  most: number
}

/** Sends the agent back to work while the score is lower, so many times in a user's turn. Null: the critic only judges. */
export const refinementOf = ({ iterative_refinement: asked }: CriticConfig): Refinement | null =>
  asked ? { threshold: asked.success_threshold, most: asked.max_iterations } : null
