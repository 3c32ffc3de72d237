import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent } from '@parley/contract/events'
import { kept } from './kept.ts'

// Only what is weighed.
const event = (seq: number, detail = '') => ({ kind: 'NoticeEvent', seq, detail }) as unknown as LogEvent
const log = (count: number, detail = '') => Array.from({ length: count }, (_, at) => event(at + 1, detail))
const bounds = { events: 100, characters: 10_000 }
const first = (events: readonly LogEvent[]) => events[0]?.seq

test('what fits is kept as it is', () => {
  const events = log(100)
  assert.equal(kept(events, false, bounds), events)
})

test('beyond the bounds the newest half stays, by number and by size', () => {
  assert.equal(first(kept(log(101), false, bounds)), 52)
  const heavy = kept(log(20, 'x'.repeat(1000)), false, bounds)
  assert.ok(heavy.length >= 4 && heavy.length <= 5, `${heavy.length} of 20`)
  assert.equal(heavy.at(-1)?.seq, 20)
})

test('while somebody reads what is old, ten times as much stays', () => {
  assert.equal(first(kept(log(1000), true, bounds)), 1)
  assert.equal(first(kept(log(1001), true, bounds)), 502)
})

test('one event that is too large alone is kept', () => {
  assert.equal(kept(log(1, 'x'.repeat(50_000)), false, bounds).length, 1)
})
