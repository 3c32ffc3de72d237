import assert from 'node:assert/strict'
import type { LogEvent } from '@parley/contract/events'
import { buildView, takeMessages } from '../loop/view.ts'
import type { Condenser, Past, Reason } from './condenser.ts'

const reasons: Reason[] = ['request', 'tokens', 'events', 'overflow']

/** What every condenser must keep, over any history of closed calls. `window`: what the model takes. */
export async function assertCondenser(
  condenser: Condenser,
  events: readonly LogEvent[],
  window: number | null,
): Promise<void> {
  assert.equal(condenser.due({ tokens: 0, window, events: 0 }), null, 'an empty history is left alone')
  for (const reason of reasons) {
    const past = pastOf(events, window)
    const before = JSON.stringify(events)
    const ask = () =>
      Promise.resolve({ text: 'notes', responseId: 'r', usage: { ...zero, prompt_tokens: past.size.tokens } })
    const condensed = await condenser.condense(past, reason, ask)
    assert.equal(JSON.stringify(events), before, 'the log is only read')
    if (condensed === null) continue
    const known = new Set(events.map((event) => event.id))
    assert.ok(condensed.forgotten_event_ids.every((id) => known.has(id)))
    const after: LogEvent[] = [...events, { ...base, kind: 'Condensation', seq: events.length + 1, ...condensed }]
    const fewer = buildView(after, true).events < past.size.events
    assert.ok(fewer || (condensed.tokens_after ?? 0) < past.size.tokens, 'it makes the history smaller')
    assertWhole(after)
  }
}

/** Every call has its result and the other way round; the first message of the user and the system prompt stay. */
function assertWhole(events: readonly LogEvent[]): void {
  const messages = takeMessages(buildView(events, true))
  const parts = messages.flatMap((message) => message.parts)
  const called = parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
  const answered = parts.flatMap((part) => (part.type === 'tool-result' ? [part.id] : []))
  assert.deepEqual(answered.toSorted(), called.toSorted(), 'calls and results stay together')
  assert.deepEqual([messages[0]?.role, messages[1]?.role], ['system', 'user'])
  const first = events.find((event) => event.kind === 'MessageEvent' && event.source === 'user')
  assert.ok(JSON.stringify(messages).includes(JSON.stringify(textOf(first)).slice(1, -1)), 'the first message stays')
  assertThoughts(events)
}

/** A chain of calls that began with signed thoughts is not begun in the middle. */
function assertThoughts(events: readonly LogEvent[]): void {
  const gone = new Set(events.flatMap((event) => (event.kind === 'Condensation' ? event.forgotten_event_ids : [])))
  let lost = false
  for (const event of events) {
    if (event.kind === 'MessageEvent') lost = false
    if (event.kind !== 'ActionEvent') continue
    const signed = (event.thinking_blocks?.length ?? 0) > 0
    if (gone.has(event.id)) lost ||= signed
    else if (signed) lost = false
    else assert.ok(!lost, 'a chain of calls keeps the thoughts it began with')
  }
}

function pastOf(events: readonly LogEvent[], window: number | null): Past {
  const view = buildView(events, true)
  const messages = takeMessages(view)
  const size = { tokens: Math.ceil(view.characters / 4), window, events: view.events }
  return { events, view, messages, toolCharacters: 0, size, putAway: () => Promise.resolve(null) }
}

const textOf = (event: LogEvent | undefined): string => {
  const content = event?.kind === 'MessageEvent' ? event.llm_message.content[0] : undefined
  return content?.type === 'text' ? content.text : ''
}

const base = {
  source: 'environment',
  id: 'condensation',
  timestamp: '2026-01-01T00:00:00.000Z',
  parent_id: null,
} as const
const zero = {
  prompt_tokens: 0,
  completion_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
}
