import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everything, queryOf } from './filters.ts'

test('empty fields narrow nothing', () => assert.deepEqual(queryOf(everything), {}))

test('what is set is asked for, as the service spells it', () => {
  const filter = {
    title: ' parser ',
    status: 'running',
    trigger: 'gui',
    repository: 'ada/engine',
    tag: 'team: parsers',
  }
  assert.deepEqual(queryOf(filter), {
    title__contains: 'parser',
    execution_status__eq: 'running',
    trigger__eq: 'gui',
    selected_repository__eq: 'ada/engine',
    tag__eq: 'team:parsers',
  })
})

test('what is half typed, or unknown, is not asked for', () => {
  assert.deepEqual(queryOf({ ...everything, repository: 'ada', tag: 'Team', status: 'new', trigger: 'moon' }), {})
  assert.deepEqual(queryOf({ ...everything, tag: 'team' }), { tag__eq: 'team' })
})
