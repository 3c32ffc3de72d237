import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getConversation } from '@parley/contract/conversations'
import type { Who } from '@parley/contract/endpoint'
import { startConversation, streamStart } from '@parley/contract/start-tasks'
import { startV0Conversation } from '@parley/contract/v0'
import type { Taken } from '@parley/wire/limits'
import { defaultLimits } from '../limits.ts'
import { bucketOfStart, rateLimits } from './rates.ts'

const key = (id: string): Who => ({ owner: 'ada', kind: 'key', id, scopes: [] })

function counted() {
  const clock = { now: 0, millis: () => clock.now }
  const rates = { ...defaultLimits().rates, start: { requests: 2, per: 60_000 } }
  const limits = rateLimits(rates, clock)
  return { clock, take: (who: Who, bucket: 'start' | 'read') => limits.take(who, bucket) as Taken }
}

test('a key that has used its share waits until the window ends, and reads go on meanwhile', () => {
  const { clock, take } = counted()
  const ada = key('k1')
  assert.deepEqual([take(ada, 'start').ok, take(ada, 'start').ok, take(ada, 'start').ok], [true, true, false])
  assert.equal(take(ada, 'read').ok, true)
  clock.now = 45_000
  assert.equal(take(ada, 'start').resetSeconds, 15)
  clock.now = 60_000
  assert.deepEqual([take(ada, 'start').ok, take(ada, 'start').remaining], [true, 0])
})

test('one key does not use up the share of another', () => {
  const { take } = counted()
  for (let n = 0; n < 3; n++) take(key('k1'), 'start')
  assert.equal(take(key('k2'), 'start').ok, true)
})

test('every answer names the policy of all buckets', () => {
  const { policy } = counted().take(key('k1'), 'read')
  assert.equal(policy, '"read";q=600;w=60, "write";q=120;w=60, "start";q=2;w=60, "control";q=60;w=60')
})

test('starts of every kind share one bucket of their own', () => {
  const handle = () => undefined
  for (const endpoint of [startConversation, streamStart, startV0Conversation])
    assert.equal(bucketOfStart({ endpoint, handle }), 'start')
  assert.equal(bucketOfStart({ endpoint: getConversation, handle }), undefined)
})
