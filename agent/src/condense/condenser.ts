import type { EventBodies, LogEvent, Usage } from '@parley/contract/events'
import type { View } from '../loop/view.ts'
import type { Message, Model } from '../model/model.ts'

/*
 * Condensers make a history smaller. What they decide is one `Condensation` event, so every worker shows the model the same.
 * Level A puts large old results away (free). Level B writes a summary in the place of the older steps. Level C is B with a
 * shorter tail, after the provider has refused the request for its length.
 */

export type Reason = 'request' | 'tokens' | 'events' | 'overflow'
export type Condensed = EventBodies['Condensation']

/** How large the next request is. */
export interface Size {
  tokens: number
  /** What the model takes; null when unknown. */
  window: number | null
  /** Events that are shown. */
  events: number
}

export interface Past {
  events: readonly LogEvent[]
  view: View
  /** The messages of the next request, whose prefix the provider's cache knows. */
  messages: readonly Message[]
  /** Characters of the tool definitions. */
  toolCharacters: number
  size: Size
  /** Keeps a result as a file in the sandbox, for the agent to read again. Null: there is no sandbox at hand. */
  putAway: (seq: number, text: string) => Promise<string | null>
}

export interface Summary {
  text: string
  responseId: string
  usage: Usage
}

/** Asks a model for a text with the tools of the conversation and no tool to choose. Null: the conversation's own model. */
export type AskSummary = (model: Model | null, messages: readonly Message[], maxTokens: number) => Promise<Summary>

export interface Condenser {
  readonly kind: string
  /** Whether it should look at the history now. Called before every call of the model, so it costs nothing. */
  due(size: Size): Exclude<Reason, 'request' | 'overflow'> | null
  /** Null: it cannot, or it is not worth it. Rejects with what `ask` rejects with when a later try may do better. */
  condense(past: Past, reason: Reason, ask: AskSummary): Promise<Condensed | null>
}
