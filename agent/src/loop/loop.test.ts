import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@parley/store/clock'
import { calls, memoryLog, says, scriptedModel, userMessage } from '../testing.ts'
import { finish } from '../tools/finish.ts'
import { taskTracker } from '../tools/task-tracker.ts'
import { think } from '../tools/think.ts'
import { run } from './loop.ts'
import { defaultPolicy } from './policy.ts'
import type { RunOptions } from './work.ts'

const setting = (): Omit<RunOptions, 'log' | 'model'> => ({
  hands: () => Promise.reject(new Error('no sandbox here')),
  tools: [think, taskTracker, finish],
  policy: defaultPolicy,
  clock: systemClock,
  signal: new AbortController().signal,
  cacheKey: 'c',
  workingDir: '/workspace',
  secrets: { names: () => [], valuesFor: () => Promise.resolve({}) },
  systemSuffix: null,
})

test('a conversation runs from a message through tools to its end', async () => {
  const log = memoryLog(systemClock)
  log.arrive(userMessage('Plan it.'))
  const model = scriptedModel(
    [
      calls(['task_tracker', { command: 'plan', task_list: [{ title: 'one' }] }], ['think', { thought: 'hm' }]),
      calls(['finish', { message: 'Done.' }]),
    ],
    { clock: systemClock },
  )
  const outcome = await run({ ...setting(), log, model })
  assert.deepEqual(outcome, { status: 'finished', seenSeq: log.events.length })
  assert.deepEqual(
    log.events.map((event) => event.kind),
    [
      'MessageEvent',
      'SystemPromptEvent',
      'LLMCallEvent',
      'ActionEvent',
      'ActionEvent',
      'ObservationEvent',
      'ObservationEvent',
      'LLMCallEvent',
      'ActionEvent',
      'ObservationEvent',
    ],
  )
  assert.equal(log.durable().length, log.events.length)
  log.arrive(userMessage('And?'))
  const more = scriptedModel([says('That is all.')], { clock: systemClock })
  assert.equal((await run({ ...setting(), log, model: more })).status, 'finished')
  assert.equal(more.requests[0]?.messages.at(-1)?.role, 'user')
})
