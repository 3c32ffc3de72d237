import type { AskSummary, Condensed, Past, Reason } from '../condense/condenser.ts'
import { condenserUsage } from './events.ts'
import { withFallbacks } from './fallback.ts'
import { checkBudget, expectedUsage } from './limits.ts'
import { withRetries } from './retry.ts'
import { sizeOf } from './size.ts'
import { step } from './step.ts'
import { orAborted } from './stop.ts'
import { takeMessages } from './view.ts'
import type { Work } from './work.ts'

/** A condenser that found nothing to do looks again when the history has grown by this part of itself. */
const growth = 1.05

/** Before each call of the model: condenses when it is due or asked for. Costs two comparisons when it is not. */
export async function keepSmall(work: Work): Promise<void> {
  const { journal, condenser, quietUpTo } = work
  if (journal.state.condense) {
    if (!(await step(work, (signal) => shrink(work, 'request', signal)))) await store(work, nothing)
    return
  }
  const size = sizeOf(work)
  const reason = condenser.due(size)
  if (reason === null || size[reason] <= quietUpTo[reason]) return
  if (await step(work, (signal) => shrink(work, reason, signal))) return
  work.quietUpTo = { tokens: size.tokens * growth, events: Math.ceil(size.events * growth) }
}

/** False: it could not be made smaller. The next request is built from what is stored. */
export async function shrink(work: Work, reason: Reason, signal: AbortSignal): Promise<boolean> {
  const { journal, condenser } = work
  const past: Past = {
    events: journal.log.events,
    view: journal.view,
    messages: takeMessages(journal.view),
    toolCharacters: work.toolCharacters,
    size: sizeOf(work),
    putAway: (seq, text) => putAway(work, seq, text, signal),
  }
  const shorter = await condenser.condense(past, reason, asker(work, past, signal))
  if (shorter === null) return false
  await store(work, shorter)
  work.quietUpTo = { tokens: 0, events: 0 }
  return true
}

const nothing: Condensed = { forgotten_event_ids: [], summary: null, summary_offset: null, llm_response_id: '' }

const store = ({ journal }: Work, condensed: Condensed) =>
  journal.commit({ kind: 'Condensation', source: 'environment', ...condensed })

/** The call is accounted for apart from the agent's own, against the same budget, and nobody sees it grow. */
function asker(work: Work, { size }: Past, signal: AbortSignal): AskSummary {
  return async (other, messages, maxTokens) => {
    const model = other ?? work.model
    const known = expectedUsage(work.journal)
    const cached = other === null ? Math.min(size.tokens, known.cache_read_tokens) : 0
    const expected = { prompt_tokens: size.tokens, completion_tokens: maxTokens, cache_read_tokens: cached }
    checkBudget(work, model, { ...known, ...expected })
    const request = {
      messages,
      tools: work.tools.definitions,
      toolChoice: 'none' as const,
      cacheKey: work.cacheKey,
      maxOutputTokens: maxTokens,
    }
    const asking = { request, usageId: condenserUsage, publish: () => {} }
    const { answer, responseId, event } =
      other === null ? await withFallbacks(work, asking, signal) : await withRetries(work, { ...asking, model }, signal)
    work.journal.write(event)
    return { text: answer.text, responseId, usage: answer.usage }
  }
}

const putAwayMs = 10_000

/** Never fails: without a file the agent has to ask for the result again. */
async function putAway(work: Work, seq: number, text: string, signal: AbortSignal): Promise<string | null> {
  const { hands, clock } = work
  const held = hands.atHand()
  if (held === null) return null
  const late = new AbortController()
  try {
    const written = held.then(async ({ files, layout }) => {
      const path = `${layout.tmp}/parley/results/${seq}.txt`
      await files.write(path, Buffer.from(text))
      return path
    })
    const timer = clock.sleep(putAwayMs, late.signal).then(() => Promise.reject(new Error('too slow')))
    return await orAborted(Promise.race([written, timer]), signal)
  } catch {
    return null
  } finally {
    late.abort()
  }
}
