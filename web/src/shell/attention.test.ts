import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turned } from './attention.ts'

const now = (execution_status: 'running' | 'finished' | 'waiting_for_confirmation' | 'paused') => [
  { id: 'a', title: 'Tests', execution_status },
]

test('one is told when a conversation at work is done or asks, and once', () => {
  const before = new Map([['a', 'running']])
  assert.deepEqual(turned(before, now('finished')), [{ id: 'a', title: 'Tests', word: 'status.finished' }])
  assert.equal(turned(before, now('waiting_for_confirmation')).length, 1)
  assert.deepEqual(turned(before, now('running')), [])
  assert.deepEqual(turned(new Map([['a', 'finished']]), now('finished')), [])
})

test('what was done before the page was open, or what a person has paused, is no news', () => {
  assert.deepEqual(turned(new Map(), now('finished')), [])
  assert.deepEqual(turned(new Map([['a', 'running']]), now('paused')), [])
})
