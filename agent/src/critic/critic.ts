import type { LogEvent } from '@parley/contract/events'

/* Critics judge the work when the agent says that it is done. A bad judgement can send the agent back to it. */

/** What a critic can look at. Each rejects when there is no sandbox to look into. */
export interface Scene {
  /** What was changed since the work began: a diff, and a line `?? path` for each new file. Empty: nothing. */
  patch(signal: AbortSignal): Promise<string>
  /** Runs a command in the working directory. `code` null: it took too long or could not be run. */
  run(command: string, timeoutMs: number, signal: AbortSignal): Promise<{ code: number | null; output: string }>
  /** Whether the agent's last act was to call finish. */
  finished: boolean
  /** The conversation so far. */
  history: readonly LogEvent[]
}

export interface Verdict {
  /** 0 to 1. */
  score: number
  /** For the agent and the user: what is missing. Null when nothing is. */
  message: string | null
  /** What else the critic has to say, for programs. */
  metadata?: Record<string, unknown>
}

export interface Critic {
  readonly kind: string
  /** Rejects when it cannot judge; the run then ends as if there were no critic. */
  judge(scene: Scene, signal: AbortSignal): Promise<Verdict>
}
