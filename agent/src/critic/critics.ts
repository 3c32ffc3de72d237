import { commandCritic } from './command-critic.ts'
import type { Critic } from './critic.ts'
import { agentFinishedCritic, emptyPatchCritic, passCritic } from './patch-critics.ts'

export type CriticKind = 'AgentFinishedCritic' | 'EmptyPatchCritic' | 'PassCritic' | 'CommandCritic'

export interface CriticConfig {
  kind: CriticKind
  /** Of a `CommandCritic`. */
  command?: string | undefined
  /** Seconds; 600 unless said. */
  timeout?: number | undefined
  /** Sends the agent back to work while the score is lower, so many times in a user's turn. Null: it only judges. */
  iterative_refinement?:
    | { success_threshold?: number | undefined; max_iterations?: number | undefined }
    | null
    | undefined
}

/** The family. */
export const critics: Readonly<Record<CriticKind, (config: CriticConfig) => Critic>> = {
  AgentFinishedCritic: () => agentFinishedCritic,
  EmptyPatchCritic: () => emptyPatchCritic,
  PassCritic: () => passCritic,
  CommandCritic: ({ command = 'false', timeout = 600 }) => commandCritic({ command, timeoutMs: timeout * 1000 }),
}

export interface Refinement {
  threshold: number
  most: number
}

export const refinementOf = ({ iterative_refinement: asked }: CriticConfig): Refinement | null =>
  asked ? { threshold: asked.success_threshold ?? 0.6, most: asked.max_iterations ?? 3 } : null
