import type { Risk, ToolCall } from '@parley/contract/events'

/** What a policy is asked about: one call that could be executed. */
export interface Planned {
  toolName: string
  readOnly: boolean
  input: Record<string, unknown>
  /** As it was found, not as the model claims. */
  risk: Risk
  call: ToolCall
}

/** What bounds a run. Times are milliseconds, money is US dollars. */
export interface Policy {
  /** Model calls since the user last spoke. */
  maxIterations: number
  /** For the whole conversation; null: none. */
  maxBudget: number | null
  /** `attempts` counts the first one too. */
  retries: { attempts: number; multiplier: number; minWaitMs: number; maxWaitMs: number }
  /** Until the first part of an answer. */
  firstByteMs: number
  /** Between two parts. */
  idleMs: number
  /** One attempt in all. */
  timeoutMs: number
  maxOutputTokens: number | null
  /** Calls of one answer that may run side by side. */
  toolConcurrency: number
  stuckDetection: boolean
  /** True: the model is asked to rate the risk of every call that changes something. */
  askRisk: boolean
  /** `ask`: the batch waits for the user. */
  confirmation: (planned: Planned) => 'ask' | 'go'
  /** How long it waits; later an answer approves nothing, and the next run goes on without the actions. */
  confirmationMs: number
}

export const defaultPolicy: Policy = {
  maxIterations: 500,
  maxBudget: null,
  retries: { attempts: 5, multiplier: 8, minWaitMs: 8_000, maxWaitMs: 64_000 },
  firstByteMs: 120_000,
  idleMs: 60_000,
  timeoutMs: 600_000,
  maxOutputTokens: null,
  toolConcurrency: 1,
  stuckDetection: true,
  askRisk: false,
  confirmation: () => 'go',
  confirmationMs: 7 * 24 * 3_600_000,
}
