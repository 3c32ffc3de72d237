import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@parley/store/clock'
import { progressOf } from './progress.ts'
import type { StartTaskRow, TaskChange } from './store.ts'

const row: StartTaskRow = {
  id: '019a0000-0000-7000-8000-000000000001',
  owner_id: '019a0000-0000-7000-8000-000000000002',
  request: {} as StartTaskRow['request'], // nothing here reads it
  status: 'WORKING',
  detail: null,
  conversation_id: '019a0000-0000-7000-8000-000000000003',
  sandbox_id: null,
  made_sandbox: false,
  sealed: null,
  log: [],
  output: '',
  output_of: null,
  notices: [],
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  deadline_at: '2026-01-01T01:00:00.000Z',
}

/** A store of which each write is answered by the test. */
function held() {
  const writes: { change: TaskChange; answer: PromiseWithResolvers<StartTaskRow | undefined> }[] = []
  const pass = (_: string, change: TaskChange) => {
    const answer = Promise.withResolvers<StartTaskRow | undefined>()
    writes.push({ change, answer })
    return answer.promise
  }
  return { writes, progress: progressOf({ pass }, systemClock, row) }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const statuses = (change: TaskChange | undefined) => change?.passed?.map(({ status }) => status)

test('What is said during a write goes into the next one, in order and whole', async () => {
  const { writes, progress } = held()
  progress.placed('one', true)
  progress.pass('WAITING_FOR_SANDBOX')
  await turn()
  progress.pass('PREPARING_REPOSITORY')
  progress.tell('2 of 3')
  progress.notice({ code: 'a', detail: 'first', level: 'info' })
  progress.pass('RUNNING_SETUP_SCRIPT')
  progress.notice({ code: 'b', detail: 'second', level: 'warning' })
  await turn()
  assert.equal(writes.length, 1)
  assert.deepEqual(statuses(writes[0]?.change), ['WAITING_FOR_SANDBOX'])
  assert.equal(writes[0]?.change.sandbox_id, 'one')
  writes[0]?.answer.resolve(row)
  await turn()
  assert.equal(writes.length, 2)
  const second = writes[1]?.change
  assert.deepEqual(statuses(second), ['PREPARING_REPOSITORY', 'PREPARING_REPOSITORY', 'RUNNING_SETUP_SCRIPT'])
  assert.equal(second?.passed?.[1]?.detail, '2 of 3')
  assert.deepEqual(
    second?.notices?.map(({ code }) => code),
    ['a', 'b'],
  )
  let stored = false
  const written = progress.written().then((all) => (stored = all))
  await turn()
  assert.equal(stored, false, 'not before the last write is answered')
  writes[1]?.answer.resolve(row)
  assert.equal(await written, true)
})

test('The worker knows at once what it has said', () => {
  const { progress } = held()
  progress.placed('one', true)
  progress.pass('WAITING_FOR_SANDBOX')
  progress.notice({ code: 'a', detail: 'first', level: 'info' })
  const { status, sandbox_id, made_sandbox, notices } = progress.task
  assert.deepEqual([status, sandbox_id, made_sandbox, notices.length], ['WAITING_FOR_SANDBOX', 'one', true, 1])
})

test('A task that somebody else has ended is told as ended, and nothing is written after it', async () => {
  const { writes, progress } = held()
  progress.pass('WAITING_FOR_SANDBOX')
  await turn()
  writes[0]?.answer.resolve(undefined)
  assert.equal(await progress.written(), false)
  assert.equal(progress.ended(), true)
  progress.pass('PREPARING_REPOSITORY')
  assert.equal(await progress.written(), false)
  assert.equal(writes.length, 1)
})

test('A write that fails is told to who waits for all of them', async () => {
  const { writes, progress } = held()
  progress.pass('WAITING_FOR_SANDBOX')
  await turn()
  writes[0]?.answer.reject(new Error('away'))
  await assert.rejects(progress.written(), /away/)
  progress.pass('PREPARING_REPOSITORY')
  await assert.rejects(progress.written(), /away/)
  assert.equal(writes.length, 1)
})
