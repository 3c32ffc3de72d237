import type { Critic } from '@parley/contract/agent-config'
import type { HookConfig } from '@parley/contract/hook-config'
import type { Hands } from '@parley/sandbox/driver'
import type { Clock } from '@parley/store/clock'
import type { Condenser } from '../condense/condenser.ts'
import type { Hooks } from '../hooks/hook.ts'
import type { Log } from '../log.ts'
import type { Model } from '../model/model.ts'
import type { Analyzer } from '../security/analyzer.ts'
import type { Tool } from '../tools/tool.ts'
import type { Toolset } from '../tools/toolset.ts'
import type { Journal } from './journal.ts'
import type { Policy } from './policy.ts'

/** Secrets the user handed to this conversation. Values leave it only for the environment of one command. */
export interface Secrets {
  names(): { name: string; description: string }[]
  /** Of the secrets that `text` names as `$NAME` or `${NAME}`. */
  valuesFor(text: string): Promise<Record<string, string>>
}

/** What a tool remembers between calls, by tool name. */
export type ToolMemory = Map<string, Map<string, unknown>>

export interface RunOptions {
  log: Log
  /** The conversation's sandbox, started or resumed when the first tool needs it. Rejects when it cannot be had. */
  hands: (signal: AbortSignal) => Promise<Hands>
  model: Model
  tools: readonly Tool[]
  policy: Policy
  clock: Clock
  /** See `stop.ts` for what its reason means. */
  signal: AbortSignal
  /** Names the conversation to the provider's prompt cache. */
  cacheKey: string
  /** Absolute path inside the sandbox. */
  workingDir: string
  secrets: Secrets
  /** Added to the system prompt of a conversation that has none yet: skills, repository notes, the user's own words. */
  systemSuffix: string | null
  /** Requests to pause or interrupt up to this `seq` belong to earlier runs. The log's end at the start unless said. */
  sinceSeq?: number
  /** US dollars of the budget that are spent and not told by the log: for a title, a side question. */
  spentBeside?: number
  /** Kept by the caller from run to run, so that the shell stays open; freed with `closeTools`. Own and freed unless said. */
  memory?: ToolMemory
  /** Judges the work when the agent says it is done; none unless given. */
  critic?: Critic | null
  /** The commit the work began from; null: there was none. */
  baseCommit?: string | null
  /** Commands that run in the sandbox at set moments. */
  hooks?: HookConfig | null
  /** Judges planned actions before they are published; none unless given. */
  analyzer?: Analyzer | null
  /** Keeps the history within the model's window. One that writes summaries unless said. */
  condenser?: Condenser
  /** Asked one after the other when the model cannot be reached; each with its own retries. */
  fallbacks?: readonly Model[]
  /** Each call of the model is kept whole as an event, under a file name in this folder. Null: only its account. */
  logCompletions?: string | null
  /** Hides secrets in what a model is shown that is not of the log. Nothing is hidden unless given. */
  mask?: (text: string) => string
  /** How services outside are reached. Not at all unless given. */
  way?: typeof fetch
  /** 0 to 1, for the jitter of retries. */
  random?: () => number
}

/** A run's options with everything made of them. */
export interface Work extends Required<Omit<RunOptions, 'tools' | 'log' | 'hands' | 'hooks'>> {
  hooks: Hooks | null
  journal: Journal
  tools: Toolset
  /** Of their definitions, as every request sends them. */
  toolCharacters: number
  /** The same hands for every call until `lost` is told that the sandbox ended. */
  hands: {
    get(signal: AbortSignal): Promise<Hands>
    lost(): void
    /** Only when somebody has asked for them already: nothing is started for their sake. */
    atHand(): Promise<Hands> | null
  }
  /** Aborted when a pause is asked for: what can be taken up again later lets go then. */
  pause: AbortController
  /** The condenser looks again when the next request is larger than this. */
  quietUpTo: { tokens: number; events: number }
}
