import type { LogEvent, Risk, ToolCall } from '@parley/contract/events'

/*
 * Analyzers say how risky a planned action is. What they find is stored with the action before it is published, and a
 * confirmation policy decides by it who is asked.
 */

/** One call that could be executed. */
export interface Judged {
  toolName: string
  readOnly: boolean
  input: Record<string, unknown>
  call: ToolCall
  /** What the model itself said. */
  claim: Risk
}

export interface Finding {
  level: Risk
  source: string
  /** 0 to 1 where the analyzer gives one. */
  score: number | null
  /** In a few words; null when there is nothing to say. */
  reason: string | null
}

export interface Analyzer {
  readonly kind: string
  /** The model is to rate every call that changes something. */
  readonly asksModel: boolean
  /** Judging costs time and leaves the house: not done where nobody reads the answer. */
  readonly outside: boolean
  /** Never rejects: what cannot be judged is found to be UNKNOWN, or HIGH where so configured. */
  judge(action: Judged, history: readonly LogEvent[], signal: AbortSignal): Promise<Finding>
}
