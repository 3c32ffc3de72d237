import type { Usage } from '@parley/contract/events'
import type { AgentKind } from './kinds.ts'

/** One piece of work for a sub-agent. */
export interface ChildTask {
  /** The same for the same work, also after a crash: whoever is at work on it already is not started again. */
  key: string
  title: string
  prompt: string
  agent: AgentKind
  /** US dollars it may spend at most; null: no limit. */
  budget: number | null
}

export interface ChildReport {
  /** Names the sub-agent's own conversation. */
  id: string
  status: 'finished' | 'error' | 'stuck' | 'paused' | 'idle'
  /** Its last words; null when it said nothing. */
  response: string | null
  /** Why it did not finish, for people. */
  reason: string | null
  model: string
  /** What it and those it started have used. `cost` in US dollars; null when no price is known. */
  usage: Usage
  cost: number | null
}

/** Who starts sub-agents and knows how they are. They have their own log and go on without the one who asked. */
export interface Children {
  /**
   * Starts it unless it is at work, and resolves when it rests. When the signal is aborted because of an interrupt it is
   * interrupted too, and the report comes within 1.5 s; for any other reason it is left at work, and this rejects.
   * `waits` is called each time it begins to wait for a person.
   */
  work(task: ChildTask, signal: AbortSignal, waits: (id: string) => void): Promise<ChildReport>
}
