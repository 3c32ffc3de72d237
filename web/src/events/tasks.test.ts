import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent } from '@parley/contract/events'
import { plannedTasks } from './tasks.ts'

const observed = (task_list: unknown, fields: object = {}): LogEvent =>
  // Only what is read.
  ({
    kind: 'ObservationEvent',
    observation: { kind: 'TaskTrackerObservation', is_error: false, task_list, ...fields },
  }) as unknown as LogEvent

test('the newest list counts, and one that failed does not', () => {
  const events = [
    observed([{ title: 'old' }]),
    observed([{ title: 'new', status: 'done' }]),
    observed([], { is_error: true }),
  ]
  assert.deepEqual(plannedTasks(events), [{ title: 'new', notes: '', status: 'done' }])
  assert.equal(plannedTasks([]), null)
})

test('a list of an agent outside is shown as far as it can be understood', () => {
  assert.deepEqual(plannedTasks([observed([{ title: 7, status: 'gone' }, null, 'x'])]), [
    { title: '', notes: '', status: 'todo' },
  ])
})
