import type { LogEvent } from '@parley/contract/events'
import { buildView, takeMessages } from '../loop/view.ts'
import { ModelError, type Message, type Model } from '../model/model.ts'
import { cutMiddle } from '../tools/observation.ts'
import type { AskSummary, Condensed, Condenser, Past, Reason, Summary } from './condenser.ts'
import { pinned } from './pinned.ts'
import { planOf, type Bounds } from './plan.ts'
import { putResultsAway, shortened } from './stubs.ts'
import { instruction, leftOut, notesIn, shownSummary } from './words.ts'

export interface SummarizingOptions extends Partial<Bounds> {
  /** Another model for the notes; the conversation's own unless given. */
  model?: Model | null
}

const stubsFrom = 0.6
const summaryFrom = 0.75
const summaryTokens = 6_000
const summaryCharacters = 30_000

/** Errors that end the run rather than cost the older steps: a later try may do better, or the next call would fail too. */
const fatal: ReadonlySet<ModelError['kind']> = new Set(['auth', 'quota', 'rate_limit', 'overloaded', 'transient'])

/** Levels A to C. `maxSize` counts shown events; without it the tokens alone decide. */
export function llmSummarizingCondenser(options: SummarizingOptions = {}): Condenser {
  const bounds: Bounds = { maxSize: options.maxSize ?? null, keepFirst: options.keepFirst ?? 2 }
  return {
    kind: 'LLMSummarizingCondenser',
    due({ tokens, window, events }) {
      if (bounds.maxSize !== null && events > bounds.maxSize) return 'events'
      return window !== null && tokens >= stubsFrom * window ? 'tokens' : null
    },
    async condense(past, reason, ask) {
      if (reason === 'tokens') {
        const stubs = await stubbed(past)
        const { tokens, window } = past.size
        if (stubs !== null && stubs.tokens_after < stubsFrom * (window ?? 0)) return stubs
        if (tokens < summaryFrom * (window ?? 0)) return stubs
      }
      const gone = planOf(past, reason, bounds)
      if (gone === null) return null
      const said = await notes(past, reason, options.model ?? null, ask)
      return summarized(past, reason, gone, said)
    },
  }
}

const nothing = { forgotten_event_ids: [], summary: null, summary_offset: null, llm_response_id: '' }

async function stubbed(past: Past): Promise<(Condensed & { tokens_after: number }) | null> {
  const stubs = await putResultsAway(past)
  return stubs ? sized(past, 'tokens', { ...nothing, stubs }) : null
}

function summarized(past: Past, reason: Reason, gone: LogEvent[], said: Summary | null): Condensed {
  const { events, view } = past
  const ids = gone.map((event) => event.id)
  const before = view.forgotten.summary
  const own = said === null ? [before === null ? '' : notesIn(before), leftOut].join('\n\n').trim() : said.text
  const facts = pinned(events, view.forgotten.ids.union(new Set(ids)))
  return sized(past, reason, {
    ...nothing,
    forgotten_event_ids: ids,
    summary: shownSummary(cutMiddle(own, summaryCharacters), facts),
    llm_response_id: said?.responseId ?? '',
    usage: said?.usage ?? null,
  })
}

/** The same with its sizes, by what the history would be with it. */
function sized(past: Past, reason: Reason, condensed: Condensed): Condensed & { tokens_after: number } {
  const { size, toolCharacters, view } = past
  const { characters } = withCondensed(past, condensed)
  const part = (characters + toolCharacters) / Math.max(1, view.characters + toolCharacters)
  return { ...condensed, reason, tokens_before: size.tokens, tokens_after: Math.round(size.tokens * part) }
}

function withCondensed({ events, view }: Past, condensed: Condensed) {
  const event: LogEvent = {
    kind: 'Condensation',
    source: 'environment',
    id: '',
    seq: (events.at(-1)?.seq ?? 0) + 1,
    timestamp: events.at(-1)?.timestamp ?? '',
    parent_id: null,
    ...condensed,
  }
  return buildView([...events, event], view.vision)
}

/**
 * The notes, written on the very history of the next call. A history that does not fit is shown with its results cut; when
 * nothing helps there are none (null), and the steps are left out all the same, so that this always comes to an end.
 */
async function notes(past: Past, reason: Reason, model: Model | null, ask: AskSummary): Promise<Summary | null> {
  const { window, tokens } = past.size
  const maxTokens = window === null ? summaryTokens : Math.max(500, Math.min(summaryTokens, Math.floor(window * 0.15)))
  const fits = model !== null && tokens + maxTokens <= (model.contextWindow ?? Number.POSITIVE_INFINITY)
  const models = fits ? [model, null] : [null]
  const whole = reason === 'overflow' ? [] : models.map((one) => ({ one, messages: () => past.messages }))
  const cut = { one: null, messages: () => takeMessages(withCondensed(past, { ...nothing, stubs: shortened(past) })) }
  for (const [at, { one, messages }] of [...whole, cut].entries()) {
    try {
      const said = await ask(one, asked(messages(), past.view.forgotten.summary !== null), maxTokens)
      return said.text.trim() === '' ? null : said
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      const others = at < models.length - 1
      if (fatal.has(error.kind) && !others) throw error
      if (error.kind !== 'context_overflow' && !others) return null
    }
  }
  return null
}

/** The instruction joins a last message of the user: two of them in a row are refused by some providers. */
function asked(messages: readonly Message[], previous: boolean): Message[] {
  const part = { type: 'text' as const, text: instruction(previous) }
  const last = messages.at(-1)
  if (last?.role === 'user') return [...messages.slice(0, -1), { ...last, parts: [...last.parts, part] }]
  return [...messages, { role: 'user', parts: [part] }]
}
