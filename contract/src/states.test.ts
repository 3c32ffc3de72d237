import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asksFor, policyOfSettings } from './confirmation.ts'
import { conversationAllows, executionMayBecome, executionStatuses, restsUntilAsked } from './execution.ts'
import { sandboxAllows, sandboxMayBecome, sandboxRefusal, sandboxStatuses } from './sandboxes.ts'
import { startEnded, startStatusesAfter, startTaskStatuses } from './start-tasks.ts'

test('a start goes through its statuses in order and can fail in each of them', () => {
  for (const [index, status] of startTaskStatuses.entries()) {
    const expected = startEnded(status) ? [] : [startTaskStatuses[index + 1], 'ERROR']
    assert.deepEqual(startStatusesAfter(status), expected, status)
  }
  assert.deepEqual(startStatusesAfter('STARTING_CONVERSATION'), ['READY', 'ERROR'])
})

test('only a paused sandbox can be resumed, and only a running one has something to pause', () => {
  const allowed = (verb: 'resume' | 'pause') => sandboxStatuses.filter((status) => sandboxAllows(status, verb))
  assert.deepEqual(allowed('resume'), ['PAUSED'])
  assert.deepEqual(allowed('pause'), ['RUNNING', 'PAUSED'])
  for (const status of sandboxStatuses) assert.ok(sandboxAllows(status, 'delete'), status)
})

test('a message to a sandbox that is gone is answered otherwise than one to a sandbox that failed', () => {
  assert.equal(sandboxRefusal('MISSING', 'message'), 'gone')
  assert.equal(sandboxRefusal('ERROR', 'message'), 'state_conflict')
  assert.equal(sandboxRefusal('PAUSED', 'message'), undefined)
  assert.equal(sandboxRefusal('RUNNING', 'resume'), 'state_conflict')
  assert.equal(sandboxRefusal('MISSING', 'resume'), 'state_conflict')
})

test('a sandbox that failed or is missing never comes back', () => {
  for (const to of sandboxStatuses) {
    assert.equal(sandboxMayBecome('MISSING', to), to === 'MISSING')
    assert.equal(sandboxMayBecome('ERROR', to), to === 'ERROR' || to === 'MISSING')
  }
})

test('a conversation takes a message in every status but deleting', () => {
  for (const status of executionStatuses) {
    assert.equal(conversationAllows(status, 'message'), status !== 'deleting', status)
    assert.equal(executionMayBecome(status, 'deleting'), true, status)
    if (status !== 'deleting') assert.ok(executionMayBecome(status, 'running'), status)
  }
  assert.ok(!executionMayBecome('deleting', 'running'))
})

test('only pending actions can be confirmed, and a client that polls stops where somebody must act', () => {
  assert.deepEqual(
    executionStatuses.filter((status) => conversationAllows(status, 'confirm')),
    ['waiting_for_confirmation'],
  )
  assert.deepEqual(executionStatuses.filter(restsUntilAsked), [
    'waiting_for_confirmation',
    'finished',
    'error',
    'stuck',
  ])
})

test('a policy asks for what is at least as risky as its threshold', () => {
  const risky = { kind: 'ConfirmRisky', threshold: 'MEDIUM', confirm_unknown: false } as const
  assert.deepEqual(
    (['LOW', 'MEDIUM', 'HIGH', 'UNKNOWN'] as const).filter((risk) => asksFor(risky, risk)),
    ['MEDIUM', 'HIGH'],
  )
  assert.ok(asksFor({ ...risky, confirm_unknown: true }, 'UNKNOWN'))
  assert.deepEqual(policyOfSettings(null, 'llm'), { kind: 'NeverConfirm' })
  assert.equal(policyOfSettings(true, 'llm').kind, 'ConfirmRisky')
  assert.equal(policyOfSettings(true, null).kind, 'AlwaysConfirm')
})
