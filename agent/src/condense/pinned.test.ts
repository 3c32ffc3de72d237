import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent } from '@parley/contract/events'
import { systemClock as clock } from '@parley/store/clock'
import { withSkills } from '../skills/activate.ts'
import { givenSkills } from '../skills/given.ts'
import { memoryLog, userMessage } from '../testing.ts'
import { pinned } from './pinned.ts'

test('a skill that went with its message is told again, as it was', () => {
  const skills = givenSkills([{ name: 'paint', content: 'Paint it green.', type: null, trigger: ['paint'] }])
  const message = withSkills(userMessage('Please paint.') as Parameters<typeof withSkills>[0], skills, new Set())
  const log = memoryLog(clock)
  log.arrive(message)
  const events: readonly LogEvent[] = log.stored
  assert.match(pinned(events, new Set(events.map(({ id }) => id))), /Paint it green/)
  assert.doesNotMatch(pinned(events, new Set()), /Paint it green/)
})
