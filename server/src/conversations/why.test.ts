import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent, NewEvent } from '@parley/contract/events'
import { type Seen, whyOf } from './why.ts'

const at = (second: number): string => new Date(Date.UTC(2026, 10, 21, 7, 0, second)).toISOString()

const log = (...events: NewEvent[]): LogEvent[] =>
  // What the log adds when it stores them.
  events.map(
    (event, n) => ({ ...event, id: `e${n + 1}`, seq: n + 1, timestamp: at(n + 1), parent_id: null }) as LogEvent,
  )

const asked: NewEvent = {
  kind: 'MessageEvent',
  source: 'user',
  llm_message: { role: 'user', content: [{ type: 'text', text: 'Go', cache_prompt: false }] },
}
const action: NewEvent = {
  kind: 'ActionEvent',
  source: 'agent',
  thought: [],
  action: { kind: 'TerminalAction', command: 'make' },
  tool_name: 'terminal',
  tool_call_id: 'c1',
  tool_call: { id: 'c1', name: 'terminal', arguments: '{}' },
  llm_response_id: 'r1',
  security_risk: 'LOW',
}
const done: NewEvent = {
  kind: 'ObservationEvent',
  source: 'environment',
  tool_name: 'terminal',
  tool_call_id: 'c1',
  action_id: 'e2',
  observation: { kind: 'TerminalObservation', content: [], is_error: false },
}
const retry: NewEvent = {
  kind: 'LLMRetryEvent',
  source: 'environment',
  attempt: 1,
  delay_ms: 8_000,
  reason: 'overloaded',
  status: 529,
}

function why(
  status: Seen['row']['execution_status'],
  events: LogEvent[],
  more: Partial<Seen['row']> = {},
  sandbox: Seen['sandbox'] = 'RUNNING',
  savedAt: string | null = null,
) {
  const row = { execution_status: status, status_reason: null, wanted_seq: 0, updated_at: at(0), ...more }
  return whyOf({ row, sandbox, events, savedAt, sandboxDetail: sandbox === 'PAUSED' ? 'Paused by its owner.' : null })
}

test('a running conversation waits for its tool, its model or the next try, since and until when', () => {
  const tool = why('running', log(asked, action))
  assert.deepEqual([tool.waits_for, tool.event_id, tool.since], ['tool', 'e2', at(2)])
  const model = why('running', log(asked, action, done))
  assert.deepEqual([model.waits_for, model.since, model.until], ['model', at(3), at(603)])
  const again = why('running', log(asked, retry))
  assert.deepEqual([again.waits_for, again.until, again.next], ['model_retry', at(10), 'The model is asked again.'])
})

test('a conversation at rest says for whom it waits', () => {
  assert.equal(why('idle', log(asked)).waits_for, 'user')
  assert.equal(why('paused', log(asked)).waits_for, 'user')
  assert.equal(why('finished', log(asked)).waits_for, 'nothing')
  assert.equal(why('idle', []).since, at(0))
  const confirm = why('waiting_for_confirmation', log(asked, action))
  assert.deepEqual([confirm.waits_for, confirm.event_id], ['confirmation', 'e2'])
})

test('a run that is asked for and not begun waits for a worker', () => {
  assert.equal(why('idle', log(asked), { wanted_seq: 1 }).waits_for, 'worker')
  assert.equal(why('idle', log(asked, action, done), { wanted_seq: 1 }).waits_for, 'user')
})

test('after a failure it says whether settings, the budget or a message help', () => {
  const failed = (user_action: 'settings' | 'retry'): NewEvent => ({
    kind: 'ConversationErrorEvent',
    source: 'environment',
    code: 'LLMAuthenticationError',
    detail: 'The LLM key was rejected',
    classification: { kind: 'auth', retryable: false, user_action },
  })
  const reason = { code: 'LLMAuthenticationError', detail: 'The LLM key was rejected', at: at(9), retryable: false }
  const seen = why('error', log(asked, failed('settings')), { status_reason: reason })
  assert.deepEqual([seen.waits_for, seen.detail, seen.since, seen.event_id], ['settings', reason.detail, at(9), 'e2'])
  assert.equal(why('error', log(asked, failed('retry')), { status_reason: reason }).waits_for, 'user')
  const budget = { ...reason, code: 'MaxBudgetReached' }
  assert.equal(why('error', log(asked), { status_reason: budget }).waits_for, 'budget')
})

test('a sandbox that cannot be worked in goes before everything else', () => {
  assert.equal(why('running', log(asked), {}, 'STARTING').waits_for, 'sandbox')
  assert.equal(why('running', log(asked), {}, 'PAUSED').waits_for, 'sandbox')
  assert.equal(why('idle', log(asked), {}, 'ERROR').waits_for, 'sandbox')
  assert.equal(why('idle', log(asked), {}, 'MISSING').waits_for, 'nothing')
  assert.match(why('idle', log(asked), {}, 'MISSING', at(0)).detail, /kept as they were at 2026.*fork/)
})
