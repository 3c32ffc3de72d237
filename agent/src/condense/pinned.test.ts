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

test('the files that were touched and the skills that were read are told from the events', () => {
  const log = memoryLog(clock)
  const names = { tool_call_id: 'c', llm_response_id: 'r', thought: [], summary: null, security_risk: 'LOW' as const }
  const touched = (command: string, path: string) => {
    const tool_call = { id: 'c', name: 'file_editor', arguments: '{}' }
    const action = { kind: 'FileEditorAction', command, path }
    log.append({ kind: 'ActionEvent', source: 'agent', tool_name: 'file_editor', ...names, tool_call, action })
  }
  touched('view', '/a')
  touched('view', '/b')
  touched('create', '/b')
  const content = [{ type: 'text' as const, text: 'Pack in straw.', cache_prompt: false }]
  const observation = { kind: 'InvokeSkillObservation', skill: 'pack', content, is_error: false }
  const of = { tool_name: 'invoke_skill', tool_call_id: 'c', action_id: 'a' }
  log.append({ kind: 'ObservationEvent', source: 'environment', ...of, observation })
  const all = pinned(log.events, new Set(log.events.map(({ id }) => id)))
  assert.match(all, /Files changed: \/b\nFiles read: \/a\n/)
  assert.match(all, /Skills in use:\nPack in straw\./)
  assert.doesNotMatch(pinned(log.events, new Set()), /Skills in use/)
})
