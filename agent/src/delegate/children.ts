import type { Usage } from '@parley/contract/events'

/** One piece of work for a sub-agent. */
export interface ChildTask {
  /** The same for the same work, also after a crash: whoever is at work on it already is not started again. */
  key: string
  title: string
  prompt: string
  /** Of the built-in kinds, or the name of a definition. */
  agent: string
  /** The id of a sub-agent that worked before and is given more; null: a new one. */
  continues: string | null
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
  /** What it and those it started have used for this task. `cost` in US dollars; null when no price is known. */
  usage: Usage
  cost: number | null
}

/** Who starts sub-agents and knows how they are. They have their own log and go on without the one who asked. */
export interface Children {
  /**
   * Starts it unless it is at work, and resolves when it rests. When the signal is aborted because of an interrupt it is
   * interrupted too, and the report comes within 1.5 s; when the parent is paused it is paused too, and this rejects: asked
   * again for the same work it goes on. For any other reason it is left at work, and this rejects.
   * `waits` is called each time it begins to wait for a person.
   */
  work(task: ChildTask, signal: AbortSignal, waits: (id: string) => void): Promise<ChildReport>
}
