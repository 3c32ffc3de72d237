import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent } from '@parley/contract/events'
import { withDelta, withoutStored } from './live.ts'
import { pendingCalls, queuedMessages, timelineOf } from './timeline.ts'

let seq = 0
const event = (kind: LogEvent['kind'], fields: object): LogEvent => {
  seq += 1
  const base = { id: `e${seq}`, seq, timestamp: '2026-11-21T07:13:05.120Z', parent_id: null, source: 'agent' }
  // Only what the reader of the log looks at.
  return { ...base, kind, ...fields } as unknown as LogEvent
}
const said = (text: string) => [{ type: 'text', text, cache_prompt: false }]
const call = (id: string, action: object = { kind: 'TerminalAction', command: 'ls' }) =>
  event('ActionEvent', { thought: [], action, tool_name: 'terminal', tool_call_id: id, llm_response_id: 'r1' })
const result = (id: string) =>
  event('ObservationEvent', { tool_call_id: id, observation: { kind: 'x', content: [], is_error: false } })

test('a call and its result are one line, whatever came between', () => {
  const items = timelineOf([call('a'), call('b'), result('b')])
  assert.deepEqual(
    items.map((item) => item.kind),
    ['tool', 'tool'],
  )
  assert.deepEqual(
    pendingCalls(items).map(({ action }) => action.tool_call_id),
    ['a'],
  )
})

test('what the agent says when it finishes is a message, and its own records are not shown', () => {
  const finish = call('c', { kind: 'FinishAction', message: 'Done.' })
  const items = timelineOf([event('SystemPromptEvent', {}), finish, event('LLMCallEvent', {})])
  assert.equal(items.length, 1)
  assert.deepEqual(items[0]?.kind === 'message' && items[0].content, said('Done.'))
})

test('an item that says the same as before is the same object, and a call that is answered is another', () => {
  const [asked, other] = [call('d'), call('e')]
  const before = timelineOf([asked, other])
  const after = timelineOf([asked, other, result('d')])
  assert.equal(after[1], before[1])
  assert.notEqual(after[0], before[0])
  assert.equal(before[0]?.kind === 'tool' && before[0].outcome, null)
})

test('a turn ends with what it took: time, tokens and cost since the message of a person', () => {
  const at = (time: string, kind: LogEvent['kind'], fields: object) =>
    event(kind, { timestamp: `2026-11-21T07:13:${time}Z`, ...fields })
  const usage = { prompt_tokens: 100, completion_tokens: 20 }
  const log = [
    at('05.000', 'MessageEvent', { source: 'user', llm_message: { content: said('Go') } }),
    at('06.000', 'LLMCallEvent', { usage, cost: 0.25 }),
    at('07.000', 'LLMCallEvent', { usage, cost: null }),
    at('08.500', 'ConversationStateUpdateEvent', { key: 'execution_status', value: 'finished' }),
    at('09.500', 'ConversationStateUpdateEvent', { key: 'execution_status', value: 'idle' }),
  ]
  const ends = timelineOf(log).filter((item) => item.kind === 'turn')
  assert.deepEqual(
    ends.map(({ ms, tokens, cost }) => ({ ms, tokens, cost })),
    [{ ms: 3500, tokens: 240, cost: 0.25 }],
  )
  assert.equal(timelineOf(log).at(-1), ends[0])
})

const piece = (offset: number, content: string, attempt = 1) =>
  ({ kind: 'StreamingDeltaEvent', response_id: 'r1', attempt, offset, content, reasoning_content: null }) as const

test('pieces of an answer are put together once, and a new try begins anew', () => {
  let lives = withDelta(new Map(), piece(0, 'Hel'))
  lives = withDelta(lives, piece(3, 'lo'))
  lives = withDelta(lives, piece(3, 'lo'))
  assert.equal(lives.get('r1')?.text, 'Hello')
  assert.equal(withDelta(lives, piece(0, 'Again', 2)).get('r1')?.text, 'Again')
})

test('what was being written goes when its event is stored, or when the agent stops', () => {
  const lives = withDelta(new Map(), piece(0, 'Hello'))
  const message = event('MessageEvent', { llm_response_id: 'r1', llm_message: { content: said('Hello') } })
  const stopped = event('ConversationStateUpdateEvent', { key: 'execution_status', value: 'paused' })
  assert.equal(withoutStored(lives, { ...message }).size, 0)
  assert.equal(withoutStored(lives, { ...stopped }).size, 0)
  assert.equal(withoutStored(lives, { ...result('z') }).size, 1)
})

test('a question beside the work is no step of the agent: it reads no message and is not of its turn', () => {
  const usage = { prompt_tokens: 100, completion_tokens: 20 }
  const message = event('MessageEvent', { source: 'user', llm_message: { content: said('And one thing') } })
  const beside = event('LLMCallEvent', { source: 'environment', usage_id: 'ask', usage, cost: 3 })
  const log = [message, beside]
  assert.deepEqual([...queuedMessages(log)], [message.id])
  const work = event('LLMCallEvent', { source: 'environment', usage_id: 'default', usage, cost: 1 })
  const rest = event('ConversationStateUpdateEvent', { key: 'execution_status', value: 'finished' })
  const end = timelineOf([...log, work, rest]).find((item) => item.kind === 'turn')
  assert.deepEqual([end?.tokens, end?.cost], [120, 1])
  assert.equal(queuedMessages([...log, work]).size, 0)
})
